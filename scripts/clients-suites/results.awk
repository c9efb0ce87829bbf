# Turns the output of a suite into lines "ok NAME" and "not ok NAME". Understands the lines of TAP, automake, unittest,
# pytest, PHPUnit (with --testdox), Go, Emacs' ERT and notmuch; a line "## FILE" names the file that
# the following tests are from. Tests that were skipped are left out.
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
/^[^ ]+::[^ ].* (PASSED|FAILED|ERROR)( +\[ *[0-9]+%\])?$/ {
    sub(/ +\[ *[0-9]+%\]$/, "")
    result = / PASSED$/ ? "ok " : "not ok "
    sub(/ [A-Z]+$/, "")
    print result $0
    next
}
/^ (✔|✘) / { result = /^ ✔/ ? "ok " : "not ok "; sub(/^ [^ ]+ /, ""); sub(/ *\[[0-9.]+ m?s\]$/, ""); print result class $0; next }
/^[A-Z][A-Za-z]*( [A-Z][A-Za-z]*)*$/ { class = $0 ": " }
/^ *--- (PASS|FAIL): / { print (/PASS/ ? "ok " : "not ok ") $3; next }
/^ +(passed|FAILED) +[0-9]+\/[0-9]+ +/ { print ($1 == "passed" ? "ok " : "not ok ") file $3; next }
/^ (PASS|FAIL)   / { result = $1 == "PASS" ? "ok " : "not ok "; sub(/^ [A-Z]+ +/, ""); print result file $0; next }
/^(PASS|FAIL|XPASS|ERROR): / { print (/^PASS/ ? "ok " : "not ok ") $2; next }
/^test_[a-z_A-Z0-9]+ \(/ { name = $1 }
name != "" && /(^|\.\.\. )(ok|FAIL|ERROR)$/ { print (/ok$/ ? "ok " : "not ok ") name; name = "" }
name != "" && /(^|\.\.\. )skipped/ { name = "" }
