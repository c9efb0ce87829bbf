# Turns the output of a suite into lines "ok NAME" and "not ok NAME". Understands TAP, automake's and unittest's lines;
# a line "## FILE" names the file that the following tests are from. Tests that were skipped are left out.
BEGIN { file = "" }
/^## / { file = substr($0, 4) " "; next }
/^(not )?ok / {
    if (/# (skip|SKIP)/) next
    result = /^not / ? "not ok" : "ok"
    sub(/^(not )?ok [0-9]* ?-? ?/, "")
    sub(/ ?# TODO.*/, "")
    sub(/ in [0-9]+m?s(ec)?$/, "")
    times = ++count[file $0]
    print result " " file $0 (times > 1 ? " (" times ")" : "")
    next
}
/^(PASS|FAIL|XPASS|ERROR): / { print (/^PASS/ ? "ok " : "not ok ") $2; next }
/^test_[a-z_A-Z0-9]+ \(/ { name = $1 }
name != "" && /(^|\.\.\. )(ok|FAIL|ERROR)$/ { print (/ok$/ ? "ok " : "not ok ") name; name = "" }
name != "" && /(^|\.\.\. )skipped/ { name = "" }
