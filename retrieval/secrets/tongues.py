"""Find secrets that are told in words of other languages than English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.regex import regex
from retrieval.secrets.forms import Secret
from retrieval.secrets.harmless import SHORT, harmless, keyed, mixed

_NUMBERED = (
    r"pin(?:[- ]?code)?|geheimzahl|code (?:pin|secret)|c[oó]digo (?:pin|secreto)"
    r"|codice (?:pin|segreto)|пин(?:[- ]?код)?|暗証番号|핀\s?(?:번호|코드)"
)
_NOUNS = (
    rf"{_NUMBERED}|password"
    # German, Dutch, the languages of the north
    r"|passwort|kennwort|wlan-?schlüssel|passphrase|zugangscode|wachtwoord|lösenord(?:et)?"
    r"|passord(?:et)?|adgangskode|kodeord|salasana(?:ni)?"
    # Languages from Latin
    r"|mots? de passe|mdp|phrase de passe|contrase[ñn]a|clave(?: secreta| de acceso)?|frase de paso"
    r"|parola(?: d'ordine| chiave)?|senha|palavra[- ]passe"
    # Languages of the east
    r"|парол[ья]|кодовое слово|has[łl]o|heslo|şifrem?|parolam?|mật khẩu|kata sandi"
    r"|كلمة (?:السر|المرور)|पासवर्ड"
)
_EASTERN_NOUNS = (
    r"パスワード|パスコード|暗証番号|合言葉|秘密鍵|비밀번호|비번|암호|패스워드|핀\s?(?:번호|코드)"
)
_NAMED = regex(f"{_NOUNS}|{_EASTERN_NOUNS}", re.IGNORECASE)
"""Stands in every text that tells a secret, and in few others."""
_OWN = (
    r"mein(?:e[mnrs]?)?|unser(?:e[mnrs]?)?|mijn|ons|onze|mitt|min|mit|vårt|vår|mon|ma|notre|mi|nuestra"
    r"|mia|mio|nostra|minha|meu|nossa|мой|моя|моё|наш|moje|mój|nasze|můj|benim"
)
_LINKS = (
    r"ist(?: jetzt| nun)?|lautet(?: jetzt| nun)?|war|wäre|heißt|heisst|is|luidt|är|er|on"
    r"|est(?: maintenant)?|était|es(?: ahora)?|era|è(?: ora)?|é(?: agora)?|это|to|brzmi|jest|je|là"
    r"|adalah|هي|है"
)
_FOR = (
    r"(?:\s(?:für|zum|zur|vom|von|bei|voor|van|för|till|til|pour|pour le|du|de|del|della"
    r"|dello|do|da|para|per|от|для|к|на|do|dla|pro)(?:\s[\w.@'-]{1,40}){1,3}?)?"
)
_TOLD = regex(
    rf"(?:(?<![^\W_])(?P<own>{_OWN})\s(?:[\w.'-]{{1,30}}[\s-]?){{0,2}}?)?"
    rf"(?:(?<![^\W_])|(?=(?:pass|kenn)wort))(?P<noun>{_NOUNS})\b{_FOR}"
    rf"(?P<link>\s*(?:[:=]|[-=]>|[→⇒—–])\s*|\s(?:{_LINKS})\b\s*:?\s*(?:(?:le|la|o|a|el|il)\s)?"
    r"|\s(?=\S{0,60}\d))",
    re.IGNORECASE,
)
_USED = regex(
    rf"(?<![^\W_])(?P<value>[^\s\"'`„“”«»]{{4,100}}) (?:als|comme|como|come|jako|som|как)"
    rf" (?:(?:{_OWN}|das|de|het|la|o|a|el|il) )?(?P<noun>{_NOUNS})\b(?! ?(?:-|manager))",
    re.IGNORECASE,
)
_EASTERN = regex(
    rf"(?P<noun>{_EASTERN_NOUNS})"
    r"\s*(?:は|が|を|＝|[:=：]|는|은|가|이|를|을)?\s*[「“\"'『]?(?P<value>[!-&(-~]{3,100})"
    r"(?P<after>[」”\"'』]?\s*(?:です|だ(?!と)|でし|に(?:変更|設定|し)|입니다|이에요|예요|야|이야"
    r"|으?로\s?(?:변경|바꿨|바꾸|설정)|[。、,.!?]|$))?"
)

_PARTICIPLE = regex(
    r"^(?:ge\w+(?:t|en)|(?:be|ver|er|zer|ent|über|unter)\w+t|\w+iert|\w+(?:bar|los|ig|lich|haft)"
    r"|\w+(?:é|ée|eux|euse|able|ible|bile|ável|ível)|\w+[aiu](?:d|t)[ao]|\w+osa|\w+nte"
    r"|\w+(?:ый|ий|ая|ое|ован|[днлщ]ен|[днлщ]ён|ет|ит|ют|ся|лся|лось))$",
    re.IGNORECASE,
)
_PLAIN_WORDS = """
falsch richtig weg zu nicht sehr noch kein eine ein der die das den immer nur sicher unsicher stark
schwach kurz lang alt neu leer gut schlecht bekannt unbekannt verloren länger kürzer hier dort so
wie was mindestens gleich anders korrekt inkorrekt geheim öffentlich pflicht privat abgelaufen weder
fehlerhaft fout juist kort lang sterk zwak veilig verplicht niet te geen verlopen
vergeten fel rätt för inte
très trop pas plus moins correct incorrect faux fausse bon bonne mauvais obligatoire requis requise
perdu perdue faible fort forte long longue court courte nouveau vide sûr invalide connu connue le la
un une dans stocké comme aussi public publique expiré
incorrecta correcta demasiado muy débil fuerte larga corta obligatoria opcional secreta el una no de
en nueva vieja válida inválida segura insegura mala buena igual errónea pública que
troppo molto sbagliata errata corretta debole lunga obbligatoria sicura il non nuova vecchia
errada fraca forte longa curta obrigatória muito a o uma um não nova velha correta
не слишком должен неверный неправильный короткий длинный слабый надёжный истёк устарел правильный
нужен забыт утерян был будет есть или для хранится
złe błędne za nie bardzo słabe silne krótkie
"""
_PLAIN = frozenset(_PLAIN_WORDS.split())
_NUMBER = regex(r"\d(?:[ -]?\d){2,11}(?!\w)")
_QUOTED = regex(r"""["'“„«‹「]\s?([^"'”“»›」\n]{3,100}?)\s?["'”“»›」]""")
_WORD = regex(r"[^\s,;!?。，；！？、]{1,200}")
_REST = regex(r"\s*(?:$|[.,;:!?\n)])")
_TRAILING = ".,;:!?)'\"`]}>»"
_SAYS = regex(r"[:=>→⇒]|lautet|luidt|brzmi", re.IGNORECASE)


def told_elsewhere(text: str) -> Iterator[Secret]:
    """Yield what is said to be a secret, in any order; one may lie in another."""
    if not _NAMED.search(text):
        return
    for match in _TOLD.finditer(text):
        if place := _behind(match, text[match.end() : match.end() + 200]):
            start, end = (match.end() + at for at in place)
            yield Secret(_kind(match["noun"]), start, end)
    for match in _USED.finditer(text):
        if keyed(match["value"], 5) and not harmless(match["value"]):
            yield Secret(_kind(match["noun"]), *match.span("value"))
    for match in _EASTERN.finditer(text):
        value = match["value"].rstrip(_TRAILING)
        if _eastern(match, value):
            yield Secret(
                _kind(match["noun"]), match.start("value"), match.start("value") + len(value)
            )


def _behind(match: re.Match[str], after: str) -> tuple[int, int] | None:
    """Return where a secret stands behind its name, if one does."""
    alone = not match["link"].strip()
    if re.fullmatch(_NUMBERED, match["noun"], re.IGNORECASE):
        number = _NUMBER.match(after) if match["own"] or not alone else None
        return number.span() if number else None
    if (quoted := _QUOTED.match(after)) and not alone:
        return None if harmless(quoted[1]) else quoted.span(1)
    found = _WORD.match(after)
    word = found[0].rstrip(_TRAILING) if found else ""
    if harmless(word) or len(word) <= SHORT:
        return None
    if keyed(word, 5) or (mixed(word) and not alone):
        return 0, len(word)
    certain = match["own"] or (_SAYS.search(match["link"]) and match["noun"].lower() != "clave")
    plain = word.lower() in _PLAIN or _PARTICIPLE.match(word)
    ends = _REST.match(after[len(word) :])
    return (0, len(word)) if certain and ends and not (plain or alone) else None


def _eastern(match: re.Match[str], value: str) -> bool:
    if harmless(value) or len(value) <= SHORT:
        return False
    return mixed(value) or match["after"] is not None


def _kind(noun: str) -> str:
    return "number" if re.fullmatch(_NUMBERED, noun, re.IGNORECASE) else "password"
