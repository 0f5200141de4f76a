"""A bucket of S3 on loopback, for `tests.loopback.serving`."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, unquote
from xml.sax.saxutils import escape, unescape

from tests.loopback import Asked


class S3:
    """A server that lists, returns and stores the objects of one bucket as S3 does."""

    def __init__(self, bucket: str, objects: dict[str, bytes]) -> None:
        self.bucket, self.objects, self.status = bucket, objects, ""

    def __call__(self, asked: Asked) -> bytes:
        if self.status:
            return http(b"<Error><Code>AccessDenied</Code></Error>", self.status)
        path, _, query = asked.target.partition("?")
        if "list-type=2" in query:
            prefix = parse_qs(query).get("prefix", [""])[0]
            return http(self._list(prefix), content_type="application/xml")
        key = unquote(path.removeprefix(f"/{self.bucket}/"))
        if asked.method in ("HEAD", "GET"):
            return self._read(key, asked)
        return self._write(key, asked)

    def _read(self, key: str, asked: Asked) -> bytes:
        body = self.objects.get(key)
        if body is None:
            return http(b"<Error><Code>NoSuchKey</Code></Error>", "404 Not Found")
        tag = f'"{len(body)}-{hash(body)}"'
        if asked.method == "HEAD":
            return http(body, etag=tag, bare=True)
        if "range" in asked.headers:
            first, last = map(int, asked.headers["range"].removeprefix("bytes=").split("-"))
            part = body[first : last + 1]
            where = f"bytes {first}-{first + len(part) - 1}/{len(body)}"
            return http(part, "206 Partial Content", etag=tag, content_range=where)
        return http(body, etag=tag)

    def _write(self, key: str, asked: Asked) -> bytes:
        if asked.method == "PUT":
            self.objects[key] = asked.body
            return http(b"", etag=f'"{len(asked.body)}"')
        if asked.method == "DELETE":
            self.objects.pop(key, None)
            return http(b"", "204 No Content")
        return http(self._delete(asked.body.decode()), content_type="application/xml")

    def _list(self, prefix: str) -> bytes:
        contents = "".join(
            f"<Contents><Key>{escape(key)}</Key><LastModified>2024-01-02T03:04:05.000Z"
            f"</LastModified><ETag>&quot;{len(body)}-{hash(body)}&quot;</ETag>"
            f"<Size>{len(body)}</Size><StorageClass>STANDARD</StorageClass></Contents>"
            for key, body in self.objects.items()
            if key.startswith(prefix)
        )
        return (
            '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult '
            'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name><Prefix></Prefix>'
            f"<KeyCount>{len(self.objects)}</KeyCount><MaxKeys>1000</MaxKeys>"
            f"<IsTruncated>false</IsTruncated>{contents}</ListBucketResult>"
        ).encode()

    def _delete(self, asked: str) -> bytes:
        keys = list(map(unescape, re.findall(r"<Key>(.*?)</Key>", asked)))
        for key in keys:
            self.objects.pop(key, None)
        told = "".join(f"<Deleted><Key>{escape(key)}</Key></Deleted>" for key in keys)
        return f"<DeleteResult>{told}</DeleteResult>".encode()


def http(
    body: bytes,
    status: str = "200 OK",
    *,
    content_type: str = "text/plain",
    etag: str = "",
    bare: bool = False,
    content_range: str = "",
) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", f"content-type: {content_type}"]
    lines += ["last-modified: Tue, 02 Jan 2024 03:04:05 GMT", "connection: close"]
    lines += [f"etag: {etag}"] if etag else []
    lines += [f"content-range: {content_range}"] if content_range else []
    return "\r\n".join([*lines, "", ""]).encode() + (b"" if bare else body)
