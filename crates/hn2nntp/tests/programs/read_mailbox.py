"""Reads a mailbox or a maildir as Python does, and writes what it finds as JSON, one line for each message.

usage: read_mailbox.py mbox|maildir PATH
"""

import email.policy
import json
import mailbox
import sys
from email.parser import BytesParser

form, path = sys.argv[1:]
box = mailbox.mbox(path) if form == "mbox" else mailbox.Maildir(path)
for key in sorted(box.keys()):
    message = BytesParser(policy=email.policy.default).parsebytes(box.get_bytes(key))
    text, html = message.get_body(("plain",)), message.get_body(("html",))
    print(json.dumps({
        "headers": {name: str(value) for name, value in message.items()},
        "defects": [str(defect) for part in message.walk() for defect in part.defects]
                   + [str(defect) for value in message.values() for defect in value.defects],
        "type": message.get_content_type(),
        "format": text.get_param("format"),
        "text": text.get_content(),
        "html": html and html.get_content(),
    }))
