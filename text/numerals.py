"""Read numbers in any script or in words, and find those that identify a person."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from decimal import Decimal
from functools import cache
from itertools import product
from typing import NamedTuple

from text.regex import regex
from text.script import HAN

_UNITS = (
    "zero oh null nul zéro cero noll ноль нуль sifr shunya",
    "one eins ein un une uno um uma een én один одна ek",
    "two zwei zwo deux dos due dois duas twee två to два две do",
    "three drei trois tres tre três drie три teen",
    "four vier quatre cuatro quattro quatro fyra fire четыре char",
    "five fünf fuenf cinq cinco cinque vijf fem пять paanch",
    "six sechs seis sei zes sex seks шесть",
    "seven sieben sept siete sette sete zeven sju syv семь",
    "eight acht huit ocho otto oito åtta otte восемь",
    "nine neun neuf nueve nove negen nio ni девять",
)
_TEENS = (
    "ten zehn dix diez dieci dez tien tio десять",
    "eleven elf onze once undici",
    "twelve zwölf zwoelf douze doce dodici doze twaalf",
    "thirteen dreizehn treize trece tredici treze dertien",
    "fourteen vierzehn quatorze catorce quattordici veertien",
    "fifteen fünfzehn quinze quince quindici vijftien",
    "sixteen sechzehn seize dieciséis sedici zestien",
    "seventeen siebzehn diecisiete diciassette zeventien",
    "eighteen achtzehn dieciocho diciotto achttien",
    "nineteen neunzehn diecinueve diciannove negentien",
)
_TENS = (
    "twenty zwanzig vingt veinte venti vinte twintig",
    "thirty dreißig dreissig trente treinta trenta trinta dertig",
    "forty fourty vierzig quarante cuarenta quaranta quarenta veertig",
    "fifty fünfzig cinquante cincuenta cinquanta vijftig",
    "sixty sechzig soixante sesenta sessanta zestig",
    "seventy siebzig setenta settanta zeventig",
    "eighty achtzig ochenta ottanta oitenta tachtig",
    "ninety neunzig noventa novanta negentig",
)
_TIMES = {
    100: "hundred hundert cent cien ciento cento honderd",
    1_000: "thousand tausend mille mil duizend",
    1_000_000: "million millions millionen millones",
}
_SCALES = {
    1_000: "k thousand tausend tsd mille mil duizend тыс тысяч тысячи",
    1_000_000: "m mn mio mln million millions millionen millones млн миллион миллионов",
    1_000_000_000: "bn billion billions mrd milliarden млрд",
}
"""The words and letters after a figure that multiply it."""
_HAN_UNITS = (
    *("零〇", "一壹", "二贰貳两兩", "三叁參", "四肆", "五伍", "六陆陸", "七柒", "八捌", "九玖"),
)
_HAN_TIMES = {10: "十拾", 100: "百佰", 1_000: "千仟", 10_000: "万萬", 100_000_000: "亿億"}
_TOKEN = regex(rf"\d{{1,20}}|[^\W\d_{HAN}]{{1,24}}|[{HAN}]")
_JOIN = regex(r"[\s.,/·、，_-]{0,3}")
_AND = frozenset({"and", "und", "y", "et", "e", "en"})


class _NumeralRun(NamedTuple):
    """Numerals in a row, and the digits that they may be read as."""

    start: int
    end: int
    readings: tuple[str, ...]


def find_numeral_runs(text: str) -> Iterator[_NumeralRun]:
    """Yield runs of numerals of which at least one is not written in digits."""
    row: list[re.Match[str]] = []
    for token in _TOKEN.finditer(text):
        close = not row or _JOIN.fullmatch(text, row[-1].end(), token.start())
        if row and not close:
            yield from _run(row)
            row = []
        if _value(token[0]) is not None or (row and token[0].lower() in _AND):
            row.append(token)
        elif row:
            yield from _run(row)
            row = []
    if row:
        yield from _run(row)


def find_amounts(text: str) -> Iterator[_NumeralRun]:
    """Yield figures with a scale behind them, such as 93.5k, 93,5 тыс. or 9.35万."""
    for match in _amount().finditer(text):
        scale, figure = _scales()[match["scale"].strip().lower()], match["figure"]
        readings = {Decimal(figure.replace(",", ".")) * scale}
        if re.fullmatch(r"\d{1,3}[.,]\d{3}", figure):
            readings.add(Decimal(re.sub("[.,]", "", figure)) * scale)
        whole = (f"{one:.0f}" for one in readings if one == one.to_integral_value())
        yield _NumeralRun(*match.span(), tuple(whole))


def _in_digits(text: str) -> str:
    """Return a text of the same length with spelt numbers in digits, padded with spaces."""
    parts, at = [], 0
    for run in find_numeral_runs(text):
        parts += [text[at : run.start], run.readings[0][: run.end - run.start]]
        parts.append(" " * (run.end - run.start - len(parts[-1])))
        at = run.end
    return "".join([*parts, text[at:]])


def to_western_digits(text: str) -> str:
    """Return a text with the digits of all scripts as Western ones."""
    if text.isascii():
        return text
    return "".join(
        letter if (digit := unicodedata.digit(letter, None)) is None else str(digit)
        for letter in text
    )


def _run(row: list[re.Match[str]]) -> Iterator[_NumeralRun]:
    while row[-1][0].lower() in _AND and _value(row[-1][0]) is None:
        row = row[:-1]
    words = [token[0] for token in row if _value(token[0]) is not None]
    if len(words) > 1 and not all(word.isdecimal() for word in words):
        readings = _read_digit_by_digit(words), _read_cardinal(words)
        yield _NumeralRun(row[0].start(), row[-1].end(), readings)


def _read_digit_by_digit(words: list[str]) -> str:
    """Read words that each give their own digits: "forty-eight two one" is 4821."""
    read: list[str] = []
    after_tens = False
    for word in words:
        value, multiplies = _value(word) or (0, False)
        digits = word if word.isdecimal() else str(value)
        if after_tens and value < 10 and not word.isdecimal():
            read[-1] = read[-1][:-1] + digits
        else:
            read.append(digits)
        after_tens = 20 <= value < 100 and value % 10 == 0 and not multiplies
    return "".join(read)


def _read_cardinal(words: list[str]) -> str:
    """Read words as one number: "three hundred and two" is 302."""
    stack: list[int] = []
    for value, multiplies in filter(None, map(_value, words)):
        if not multiplies:
            stack.append(value)
            continue
        counted = 0
        while stack and stack[-1] < value:
            counted += stack.pop()
        stack.append((counted or 1) * value)
    return str(sum(stack))


def _value(word: str) -> tuple[int, bool] | None:
    """Return the value of a numeral, and whether it multiplies the one before it."""
    return (int(word), False) if word.isdecimal() else _values().get(word.lower())


@cache
def _scales() -> dict[str, int]:
    words = {word: n for n, some in _SCALES.items() for word in some.split()}
    han = {one: n for n, some in _HAN_TIMES.items() if n > 100 for one in some}
    return words | han | dict.fromkeys(("百万", "百萬"), 1_000_000)


@cache
def _amount() -> re.Pattern[str]:
    spelt = sorted((one for one in _scales() if one.isalpha()), key=len, reverse=True)
    letters = "|".join(one for one in spelt if not regex(f"[{HAN}]").match(one) and len(one) > 1)
    han = "|".join(one for one in spelt if regex(f"[{HAN}]").match(one))
    return regex(
        r"(?<![\d.,])(?P<figure>\d{1,9}(?:[.,]\d{1,9})?)"
        rf"(?P<scale>(?:(?<=\d)[km]|\s?(?:{letters}))(?![^\W\d_])|\s?(?:{han}))",
        re.IGNORECASE,
    )


@cache
def _values() -> dict[str, tuple[int, bool]]:
    values = {word: (n, False) for n, some in enumerate(_UNITS) for word in some.split()}
    values |= {word: (n, False) for n, some in enumerate(_TEENS, 10) for word in some.split()}
    tens = {word: n * 10 for n, some in enumerate(_TENS, 2) for word in some.split()}
    values |= {word: (n, False) for word, n in tens.items()}
    units = ("ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun")
    for (n, unit), (word, ten) in product(enumerate(units, 1), tens.items()):
        values[f"{unit}und{word}"] = (ten + n, False)
    values |= {word: (n, True) for n, some in _TIMES.items() for word in some.split()}
    values |= {one: (n, False) for n, some in enumerate(_HAN_UNITS) for one in some}
    return values | {one: (n, True) for n, some in _HAN_TIMES.items() for one in some}


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
"""Nouns of which even a short number is secret."""
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
"""The fewest characters of a number, and of one of a short kind."""


def mask_identity_numbers(text: str) -> str:
    """Return a text with numbers that identify a person replaced by a mark."""
    text = _IDENTITY.sub(lambda one: "[number removed]" if _checked(one) else one[0], text)
    parts, done = [], 0
    for start, end in sorted(_places(text)):
        if start >= done:
            parts += [text[done:start], "[number removed]"]
            done = end
    return "".join([*parts, text[done:]])


def find_identity_numbers(text: str) -> frozenset[str]:
    """Return the numbers beside an identifying word, without separators and in lower case."""
    if not _NAMED.search(text):
        return frozenset()
    digits = _in_digits(to_western_digits(text))
    return frozenset(_without_separators(digits[start:end]) for start, end in _places(text))


def find_known_numbers(text: str, known: Collection[str]) -> set[int]:
    """Return the places of numbers that are known to identify a person, wherever they are."""
    if not known:
        return set()
    matches = (match for form in (_ANY_VALUE, _ANY_PART) for match in form.finditer(text))
    spans = (match.span() for match in matches if _without_separators(match[0]) in known)
    return {place for span in spans for place in range(*span)}


def _without_separators(number: str) -> str:
    """Return a number without separators, in lower case."""
    return "".join(filter(str.isalnum, number)).lower()


def _places(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of numbers after or before an identifying word."""
    if not _NAMED.search(text):
        return
    digits = _in_digits(to_western_digits(text))
    for match in _TOLD.finditer(digits):
        if _identifies(match) and not _AMOUNT.match(digits, match.end()):
            yield _spelt_out(match, text)
    for match in _TOLD_BEFORE.finditer(digits):
        own = match["gap"].strip(" ,")
        if (own or match["long"]) and _identifies(match):
            yield _spelt_out(match, text)


def _spelt_out(match: re.Match[str], text: str) -> tuple[int, int]:
    """Return the place of a number in a text; one in words is longer than its digits."""
    start, end = match.span("value")
    rest = regex(r"\S+").match(text, end) if text[start:end] != match["value"] else None
    spaces = len(match.string) - len(match.string[end:].lstrip()) if rest else end
    return start, max(end, len(text[:spaces].rstrip()))


def _identifies(match: re.Match[str]) -> bool:
    """Tell whether a number beside an identifying word is long enough, and no date."""
    value = _without_separators(match["value"])
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
    """Tell whether a code opens something, unlike an error code or a ZIP code."""
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
