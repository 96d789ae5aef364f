"""Makes small edits of a source. Each changes or removes one token, call, condition or statement."""
import json
import re

# (kind, pattern, replacement)
EDITS = [
    ("sign", r"(?<=\s)\+(?=\s)", "-"),
    ("sign", r"(?<=\s)-(?=\s)", "+"),
    ("sign", r"(?<=[(,=]\s)-(?=[a-z])|(?<=\()-(?=[a-z])", ""),
    ("scale", r"(?<=\s)\*(?=\s[a-z0-9(])", "/"),
    ("scale", r"(?<=\s)/(?=\s)", "*"),
    ("scale", r"std::sqrt\b", ""),
    ("axis", r"(?<=[(,\s])-1(?=[,)])", "-2"),
    ("axis", r"(?<=[(,\s])-2(?=[,)])", "-1"),
    ("index", r"(?<=[(,\s])[0-9](?=[,)])", lambda m: str(int(m.group()) + 1)),
    ("index", r"(?<=[(,\s])[1-9](?=[,)])", lambda m: str(int(m.group()) - 1)),
    ("mask", r"\.logical_not\(\)", ""),
    ("mask", r"\b(?:input\.)?mask_?\.defined\(\)", "false"),
    ("mask", r"\bcausal\(\)|\binput\.causal\b|\bcausal_\b(?=\s*[?)&|])", "false"),
    ("mask", r"\.masked_fill\([^();]*(?:\([^()]*\)[^();]*)*\)", ""),
    ("compare", r"(?<=\s)<(?=\s)", "<="),
    ("compare", r"(?<=\s)<=(?=\s)", "<"),
    ("compare", r"(?<=\s)>(?=\s)", ">="),
    ("compare", r"(?<=\s)>=(?=\s)", ">"),
    ("compare", r"(?<=\s)==(?=\s)", "!="),
    ("compare", r"(?<=\s)!=(?=\s)", "=="),
    ("condition", r"(?<=\s)&&(?=\s)", "||"),
    ("condition", r"(?<=\s)\|\|(?=\s)", "&&"),
    ("choice", r"\btrue\b", "false"),
    ("choice", r"\bfalse\b", "true"),
    ("detach", r"\.detach\(\)", ""),
    ("detach", r"(?<=\.matmul\()([^();]*(?:\([^()]*\)[^();]*)*)\)", lambda m: m.group() + ".detach()"),
    ("statement", r"(?<=\n)\s+\w[\w.]*(?:_\(|\s[-+*]?=\s)[^;{}]*;", ""),
]
# Parts that get no edits: texts, comments, and declarations of a plugin (tables of parameters, promises, oracles, the macro).
OPAQUE = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"|^#[^\n]*|^using [^\n]*|^constexpr [\w:]+ \w+\[\] = \{.*?^\};|^ABLATE_\w+\(.*\Z'
                    r"|^Capabilities promises\(.*?^\}|throw [^;]*;|register_\w+\([^;]*;", re.M | re.S)


def negations(text):
    """Yields the span of x for each `if (x)`. If x has semicolons, yields the span after its last semicolon."""
    for m in re.finditer(r"\bif \(", text):
        depth, start, at = 1, m.end(), m.end()
        while at < len(text) and depth > 0:
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text[at], 0)
            if depth == 1 and text[at] == ";":
                start = at + 1
            at += 1
        if depth == 0 and text[start:at - 1].strip():
            yield start + len(text[start:at]) - len(text[start:at].lstrip()), at - 1


def edits_of(text):
    """Returns (kind, begin, end, replacement) for each edit. Opaque parts have no edits."""
    hidden = [m.span() for m in OPAQUE.finditer(text)]
    found = [("condition", start, end, f"!({text[start:end]})") for start, end in negations(text)]
    for kind, pattern, becomes in EDITS:
        for m in re.finditer(pattern, text):
            found.append((kind, m.start(), m.end(), becomes(m) if callable(becomes) else becomes))
    # A condition may contain a text or a comment. It is hidden only if it begins in a hidden part.
    return [edit for edit in found if not any(a < (edit[2] if edit[0] != "condition" else edit[1] + 1) and edit[1] < b for a, b in hidden)]


class Edit:
    """One change of one file."""

    def __init__(self, file, text, edit, nth):
        self.file, self.text = file, text
        self.kind, self.start, self.end, self.new = edit
        self.nth = nth  # number among edits with the same description

    @staticmethod
    def said(file, text, edit):
        kind, start, end, new = edit
        first = Edit.first(text, start, end)
        line = text[text.rfind("\n", 0, first) + 1:text.find("\n", max(first, end))].strip()
        return {"file": file.name, "kind": kind, "line": line, "old": " ".join(text[start:end].split()), "new": new}

    @staticmethod
    def first(text, start, end):
        """Returns the position of the first nonblank character: a statement's span begins at the end of the line before it."""
        return start + len(text[start:end]) - len(text[start:end].lstrip())

    def described(self):
        """Returns a description by which the edit is found again after other lines have changed."""
        return {**self.said(self.file, self.text, (self.kind, self.start, self.end, self.new)), "nth": self.nth}

    def shown(self):
        one = self.described()
        number = self.text.count("\n", 0, self.first(self.text, self.start, self.end)) + 1
        return f"{one['file']}:{number} {self.kind}: `{one['old'][:60]}` -> `{self.new.strip()[:60] or 'nothing'}`"

    def result(self):
        return self.text[:self.start] + self.new + self.text[self.end:]


def all_edits(folder):
    edits, seen = [], {}
    for file in sorted(p for p in folder.iterdir() if p.suffix in (".cpp", ".h", ".cu")):
        text = file.read_text()
        for edit in edits_of(text):
            key = json.dumps(Edit.said(file, text, edit))
            seen[key] = seen.get(key, 0) + 1
            edits.append(Edit(file, text, edit, seen[key]))
    return edits
