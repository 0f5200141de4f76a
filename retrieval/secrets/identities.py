"""Find numbers that identify a person: of ID cards, bank accounts, passports, and short codes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from retrieval.regex import regex
from retrieval.secrets.digits import in_digits, western

_IDENTITY = regex(
    r"(?<![\w.-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])"
    r"|(?<![\dA-Za-z])(?P<china>[1-8]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}"
    r"[\dXx])(?![\dA-Za-z])"
    r"|(?<![\dA-Za-z])(?P<account>[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)"
    r"(?![\dA-Za-z])"
)
"""American and Chinese ID numbers, and IBAN."""

_SHORT = (
    r"(?:pin|tan|puk|otp|totp|2fa|mfa|psk|cvv|cvc|pass ?code)s?(?: ?-?(?:code|number))?|combination"
    r"|(?:sort|routing) (?:code|number)|验证码|驗證碼|动态码|安全码|门禁码|取件码|取件碼|门锁|門鎖"
    r"|暗証番号|認証コード|確認コード|인증 ?번호|인증 ?코드|비밀번호|пин(?:[- ]?код)?|geheimzahl"
    r"|zahlenkombination|combinaison|combinación|combinazione"
)
"""What a short number of is secret, too."""
_CODE = r"code|código|codigo|codice|код|代码"
_NUMBER = r"(?:number|numbers?|num|no\.?|nr\.?|n°|nummer|id|#)"
_LONG = (
    r"(?:bank )?account|acct|a/c|passport|iban|bban|ssn|nhs|tin|itin|vat id|(?:identity|id) card"
    r"|national insurance|social security|driv(?:er'?s?|ing) licen[cs]e|licen[cs]e plate"
    rf"|(?:tax(?:payer)?|insurance|member(?:ship)?|customer|client|patient|policy|student|employee"
    rf"|personnel|licen[cs]e|id|identity|identification|health|pension|user|(?:credit |debit )?card"
    rf"|loyalty|social) {_NUMBER}"
    r"|(?:bank)?konto(?:nummer)?|kunden-?(?:nummer|nr\.?)|mitglieds-?(?:nummer|nr\.?)|ausweis(?:nummer)?"
    r"|(?:kranken|sozial|renten)?versicherungs-?nummer|steuer-?(?:id|nummer|identifikationsnummer)"
    r"|(?:reise)?pass(?:nummer)|reisepass|personalausweis(?:nummer)?|führerschein(?:nummer)?"
    r"|rekening(?:nummer)?|paspoort(?:nummer)?|klantnummer|bsn|burgerservicenummer"
    r"|compte(?: bancaire)?|passeport|(?:numéro|n°) (?:de )?(?:client|permis|membre|fiscal)"
    r"|cuenta(?: bancaria)?|pasaporte|dni|nie|nif|número de (?:cliente|afiliado|licencia|socio)"
    r"|conto(?: corrente)?|passaporto|codice fiscale|patente|numero (?:di )?(?:cliente|tessera)"
    r"|conta(?: bancária)?|cpf|número do cliente|kontonummer|personnummer|pesel|nip"
    r"|(?:numer )?(?:konta|paszportu|klienta)|сч[её]та?|паспорта?|инн|снилс|полиса?"
    r"|رقم الحساب|حساب(?:ي)?|جواز(?: السفر)?|رقم الهوية|खाता|पासपोर्ट|आधार"
    r"|账号|帳號|账户|帳戶|[卡税稅][号號]|护照|護照|身份[证證]|社保|医保|[会會][员員]|客[户戶]|[驾駕][照驶駛]证?|[学學][号號]"
    r"|口座|パスポート|旅券|免許証|会員|顧客|マイナンバー|계좌|여권|면허|회원|고객|주민등록"
)
_NOUN = rf"(?i:(?P<short>{_SHORT})|(?P<code>{_CODE})|(?P<long>{_LONG}))"
_NAMED = regex(_NOUN)
_BEFORE, _AFTER = r"(?<![^\W\u3040-\ud7ff])", r"(?![^\W\d\u3040-\ud7ff])"
_IS = (
    r"(?i:(?:is|was|are|ist|war|lautet|es|est|era|è|é|är|er|to|jest|это|will be|has been|called"
    r"|هو|है)(?![^\W\u3040-\ud7ff])|[是为為は]|는|은|[:=])"
)
_LINK = (
    rf"(?:\s+(?:(?:{_NUMBER}|of|the|my|de|der|die|le|la|номер)(?![^\W\u3040-\ud7ff])|{_IS})"
    r"|[ ]?の?(?:号码?|號碼?|番号|번호|编号|編號))"
)
_SAID = r"(?:,?\s+[^\W\d]{1,20}(?:'s)?){1,5}?"
_GAP = (
    rf"(?:(?i:{_LINK}|\s?{_IS}){{0,3}}|{_SAID}\s+(?i:{_IS}|{_NUMBER}\b))"
    r"(?:[\s:=#(\"'“-]|No\.|Nr\.|n°){0,4}"
)
_PART = r"(?=[A-Za-z]{0,12}\d)[A-Za-z0-9]{1,40}"
_VALUE = rf"(?<![\w,])(?:[A-Z]{{1,3}} )?{_PART}(?:(?: ?[-./] ?| )(?:{_PART}|[A-Z](?![\w']))){{0,8}}"
_BARE = _VALUE.replace(r"(?<![\w,])", r"(?<![A-Za-z0-9,])")
_ANY_VALUE, _ANY_PART = regex(_BARE), regex(_PART)
_TOLD = regex(rf"{_BEFORE}{_NOUN}{_AFTER}(?P<gap>{_GAP})(?P<value>{_BARE})(?![A-Za-z0-9])")
_OWN = r"(?i:my|our|his|her|mein(?:er?)?|unsere?|mon|ma|mi[ao]?|meu|minha|mijn|мой|我的?|私の|내)"
_TOLD_BEFORE = regex(
    rf"(?P<value>{_BARE})(?![A-Za-z0-9])"
    rf"(?P<gap>,?\s*(?:{_IS}|as|als|comme|como|\(|[-–—])?\s*"
    rf"(?:{_OWN}\s*(?:[^\W\d]{{1,20}} ){{0,2}}?)?)"
    rf"{_NOUN}{_AFTER}"
)
_AMOUNT = regex(
    r"\s?(?:[%€$£¥+]|,\d|\.\d|(?:euros?|dollars?|pounds?|usd|eur|gbp|rmb|yuan|followers?|users?|people"
    r"|holders?|members?|customers?|clients?|million|thousand|billion|years?|days?|times|points)\b"
    r"|[元万萬亿億年人个個])",
    re.IGNORECASE,
)
_DATE = regex(
    r"(?:(?:1[5-9]|20)\d\d\D{0,3})+"
    r"|(?:1[5-9]|20)\d\d[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./](?:1[5-9]|20)\d\d"
)
_LAST = regex(r"[^\W\d_]+(?='?\s*$)")
_CODED = regex(
    r"(?i:door|gate|alarm|entry|entrance|access|safe|lock|locker|keypad|shed|security|login"
    r"|verification|confirmation|factor|sms|auth|authentication|authenticator|backup|recovery|reset"
    r"|unlock|building|garage|bank|activation|wifi|wlan|phone|card|voucher)"
)
"""What stands before "code" where it opens something; "error code" and "ZIP code" do not."""
_ANY = regex(r"(?i:my|our|the|his|her|a|and|with|is|der|mein|le|el|il|mon|mi)")
LONG, BRIEF = 5, 4
"""The fewest characters of a number, and of one of a kind that is short."""


def without_identities(text: str) -> str:
    """Return a text with each such number replaced by a mark."""
    text = _IDENTITY.sub(lambda one: "[number removed]" if _checked(one) else one[0], text)
    parts, at = [], 0
    for start, end in sorted(_places(text)):
        if start >= at:
            parts += [text[at:start], "[number removed]"]
            at = end
    return "".join([*parts, text[at:]])


def identities(text: str) -> frozenset[str]:
    """Return the numbers of a text that an identifying word stands beside, in compared form."""
    if not _NAMED.search(text):
        return frozenset()
    digits = in_digits(western(text))
    return frozenset(compared(digits[start:end]) for start, end in _places(text))


def known_places(text: str, known: Collection[str]) -> set[int]:
    """Return the places of numbers that are known to identify a person, whatever is beside them."""
    if not known:
        return set()
    some = (one for form in (_ANY_VALUE, _ANY_PART) for one in form.finditer(text))
    found = (one for one in some if compared(one[0]) in known)
    return {at for one in found for at in range(*one.span())}


def compared(number: str) -> str:
    """Return a number without what separates its parts, in lower case."""
    return "".join(filter(str.isalnum, number)).lower()


def _places(text: str) -> Iterator[tuple[int, int]]:
    """Yield where numbers stand behind or before an identifying word."""
    if not _NAMED.search(text):
        return
    digits = in_digits(western(text))
    for match in _TOLD.finditer(digits):
        if _identifies(match) and not _AMOUNT.match(digits, match.end()):
            yield _spelt_out(match, text)
    for match in _TOLD_BEFORE.finditer(digits):
        own = match["gap"].strip(" ,")
        if (own or match["long"]) and _identifies(match):
            yield _spelt_out(match, text)


def _spelt_out(match: re.Match[str], text: str) -> tuple[int, int]:
    """Return where a number stands in a text; one in words goes on behind its digits."""
    start, end = match.span("value")
    rest = regex(r"\S+").match(text, end) if text[start:end] != match["value"] else None
    spaces = len(match.string) - len(match.string[end:].lstrip()) if rest else end
    return start, max(end, len(text[:spaces].rstrip()))


def _identifies(match: re.Match[str]) -> bool:
    """Tell whether a number beside such a word is long enough, and no date or amount."""
    value = compared(match["value"])
    digits = sum(map(str.isdigit, value))
    linked = bool(match["gap"].strip(" #-,"))
    if match["code"] and not _opens(match):
        return False
    if match["long"]:
        least = LONG if value.isdigit() or linked else LONG + 1
        return len(value) >= least and digits >= 2 and not _DATE.fullmatch(match["value"])
    year = _DATE.fullmatch(match["value"]) and not linked
    return len(value) >= BRIEF and digits >= 2 and not year


def _opens(match: re.Match[str]) -> bool:
    """Tell whether a code is one that opens something, and not an error's or a place's."""
    last = _LAST.search(match.string, max(match.start("code") - 24, 0), match.start("code"))
    alone = not match.string[: match.start("code")].strip()
    kind = bool(last and _CODED.fullmatch(last[0]))
    if alone or (last and _ANY.fullmatch(last[0])):
        return match["value"].isdecimal() or bool(match["gap"].strip(" #-"))
    return kind


def _checked(match: re.Match[str]) -> bool:
    if china := match["china"]:
        # ISO 7064, MOD 11-2: X stands for 10.
        last = 10 if china[-1] in "Xx" else int(china[-1])
        weighed = sum(int(digit) << (17 - at) for at, digit in enumerate(china[:-1]))
        return (weighed + last) % 11 == 1
    if account := match["account"]:
        # ISO 7064, MOD 97-10, with the first four characters moved to the end.
        turned = (account[4:] + account[:4]).replace(" ", "")
        return int("".join(str(int(letter, 36)) for letter in turned)) % 97 == 1
    return True
