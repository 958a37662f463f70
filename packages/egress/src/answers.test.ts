import { createCertificateAuthority, startTls, type CertificateAuthority, type Credentials } from '@herald/test-kit';
import type { BodyNote } from '@herald/core';
import fc from 'fast-check';
import type { Socket } from 'node:net';
import { AnswerHead } from './answer-head.ts';
import { createEgressSender } from './create-egress.ts';
import type { Sender } from './create-sender.ts';

/** An answer as it is on the wire, and what is read of it. */
type RawAnswer = {
  readonly what: string;
  /** In parts, each comes a little later. */
  readonly says: string | readonly string[];
  /** What the server does then; default: it waits. */
  readonly end?: 'close' | 'reset';
  /** The status that others read. */
  readonly curl: number | 'refused';
  readonly go: number | 'refused';
  /** The status or the error of the attempt. */
  readonly herald: number | string;
  readonly note?: BodyNote;
  /** Default: ok. */
  readonly answer?: string;
  /** Why it is not what both others read. */
  readonly because?: string;
};

const OK = 'HTTP/1.1 200 OK\r\n';
const CL2 = 'Content-Length: 2\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const cookies = (count: number) =>
  Array.from({ length: count }, (_, index) => `Set-Cookie: session-${index}=${'c'.repeat(200)}\r\n`).join('');

/**
 * The columns `curl` and `go` were measured on 2026-11-26, with curl 7.88.1 (`curl --http1.1 --max-time 2 --data … -w
 * '%{http_code}'`: the status that it had, whatever it says of the body) and the client of Go 1.26.8 (`http.Client.Post`:
 * the status, or `refused` for an error). Each asked a TLS server that reads the request, says just this and then waits,
 * closes or resets.
 */
const ANSWERS: readonly RawAnswer[] = [
  // Well formed
  { what: 'a length and its body', says: `${OK}${CL2}\r\nok`, curl: 200, go: 200, herald: 200 },
  { what: 'a length of 0', says: `${OK}Content-Length: 0\r\n\r\n`, curl: 200, go: 200, herald: 200, answer: '' },
  { what: 'chunks', says: `${OK}${CHUNKED}\r\n2\r\nok\r\n0\r\n\r\n`, curl: 200, go: 200, herald: 200 },
  {
    what: 'chunks with extensions',
    says: `${OK}${CHUNKED}\r\n2;a=b;c="d;e"\r\nok\r\n0;last\r\n\r\n`,
    curl: 200,
    go: 200,
    herald: 200,
  },
  {
    what: 'chunks with trailers',
    says: `${OK}${CHUNKED}Trailer: X-Sum\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n`,
    curl: 200,
    go: 200,
    herald: 200,
  },
  {
    what: 'chunk sizes in capitals with zeros in front',
    says: `${OK}${CHUNKED}\r\n000A\r\n0123456789\r\n00\r\n\r\n`,
    curl: 200,
    go: 200,
    herald: 200,
    answer: '0123456789',
  },
  { what: 'a body until the close', says: `${OK}\r\nok`, end: 'close', curl: 200, go: 200, herald: 200 },
  { what: 'HTTP/1.0 with a length', says: `HTTP/1.0 200 OK\r\n${CL2}\r\nok`, curl: 200, go: 200, herald: 200 },
  {
    what: 'HTTP/1.0 until the close',
    says: 'HTTP/1.0 200 OK\r\nServer: old\r\n\r\nok',
    end: 'close',
    curl: 200,
    go: 200,
    herald: 200,
  },
  { what: 'no reason after the status', says: `HTTP/1.1 200\r\n${CL2}\r\nok`, curl: 200, go: 200, herald: 200 },
  {
    what: 'a blank and no reason after the status',
    says: `HTTP/1.1 200 \r\n${CL2}\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
  },
  {
    what: 'a reason in UTF-8',
    says: `HTTP/1.1 200 D\u00e9j\u00e0 vu\r\n${CL2}\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
  },
  { what: 'a long reason', says: `HTTP/1.1 200 ${'x'.repeat(8_000)}\r\n${CL2}\r\nok`, curl: 200, go: 200, herald: 200 },
  { what: 'an empty header', says: `${OK}X-A:\r\nX-B: \r\n${CL2}\r\nok`, curl: 200, go: 200, herald: 200 },
  {
    what: 'tabs around a value',
    says: `${OK}X-A:\tb\t\r\nContent-Length: \t2 \t\r\n\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
  },
  {
    what: 'a header in UTF-8',
    says: `${OK}Server: D\u00e9j\u00e0 vu\r\n${CL2}\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
  },
  {
    what: '100 before the answer',
    says: `HTTP/1.1 100 Continue\r\n\r\n${OK}${CL2}\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
  },
  {
    what: '103 three times before the answer',
    says: `${'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(3)}${OK}${CL2}\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
  },
  {
    what: '102, and the answer later',
    says: ['HTTP/1.1 102 Processing\r\n\r\n', `${OK}${CL2}\r\nok`],
    curl: 200,
    go: 200,
    herald: 200,
  },
  { what: 'an answer in single bytes', says: `${OK}${CL2}\r\nok`.split(''), curl: 200, go: 200, herald: 200 },
  { what: 'a head, and the body later', says: [`${OK}${CL2}\r\n`, 'ok'], curl: 200, go: 200, herald: 200 },
  { what: 'a 204', says: 'HTTP/1.1 204 No Content\r\n\r\n', curl: 204, go: 204, herald: 204, answer: '' },
  {
    what: 'a 204 that closes',
    says: 'HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n',
    end: 'close',
    curl: 204,
    go: 204,
    herald: 204,
    answer: '',
  },
  {
    what: 'a 304 with the length of what it leaves out',
    says: 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n',
    curl: 304,
    go: 304,
    herald: 304,
    answer: '',
  },
  {
    what: 'a 205 with a length of 0',
    says: 'HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n',
    curl: 205,
    go: 205,
    herald: 205,
    answer: '',
  },
  { what: 'the unknown status 299', says: `HTTP/1.1 299 Fine\r\n${CL2}\r\nok`, curl: 299, go: 299, herald: 299 },
  {
    what: 'the unknown status 599',
    says: `HTTP/1.1 599 No\r\n${CL2}\r\nno`,
    curl: 599,
    go: 599,
    herald: 599,
    answer: 'no',
  },
  {
    what: 'a redirect',
    says: `HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n`,
    curl: 302,
    go: 302,
    herald: 302,
    answer: '',
  },
  { what: '60 cookies, 13 KiB', says: `${OK}${cookies(60)}${CL2}\r\nok`, curl: 200, go: 200, herald: 200 },
  { what: '90 cookies, 20 KiB', says: `${OK}${cookies(90)}${CL2}\r\nok`, curl: 200, go: 200, herald: 200 },
  { what: '280 cookies, 61 KiB', says: `${OK}${cookies(280)}${CL2}\r\nok`, curl: 200, go: 200, herald: 200 },
  {
    what: 'one header of 60 KiB',
    says: `${OK}Content-Security-Policy: ${'x'.repeat(60_000)}\r\n${CL2}\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
  },
  {
    what: 'one header of 70 KiB',
    says: `${OK}X-A: ${'x'.repeat(70_000)}\r\n${CL2}\r\nok`,
    curl: 200,
    go: 200,
    herald: 'malformed_answer',
    because: '64 KiB of headers bound what an answer costs; curl stops at 300 KB and Go at 10 MB',
  },
  // A body where none may be
  {
    what: 'a 204 with a length and a body',
    says: 'HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nOK',
    curl: 204,
    go: 204,
    herald: 204,
    note: 'body_not_allowed',
    answer: '',
  },
  {
    what: 'a 204 with a length of 0',
    says: 'HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n',
    curl: 204,
    go: 204,
    herald: 204,
    answer: '',
  },
  {
    what: 'a 204 with empty chunks',
    says: `HTTP/1.1 204 No Content\r\n${CHUNKED}\r\n0\r\n\r\n`,
    curl: 204,
    go: 204,
    herald: 204,
    note: 'body_not_allowed',
    answer: '',
  },
  {
    what: 'a 204 with chunks',
    says: `HTTP/1.1 204 No Content\r\n${CHUNKED}\r\n2\r\nOK\r\n0\r\n\r\n`,
    curl: 204,
    go: 204,
    herald: 204,
    note: 'body_not_allowed',
    answer: '',
  },
  {
    what: 'a 204 with a body until the close',
    says: 'HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\nOK',
    end: 'close',
    curl: 204,
    go: 204,
    herald: 204,
    note: 'body_not_allowed',
    answer: '',
  },
  {
    what: 'a 204 with a body of no length',
    says: 'HTTP/1.1 204 No Content\r\n\r\nOK',
    curl: 204,
    go: 204,
    herald: 204,
    note: 'body_not_allowed',
    answer: '',
  },
  {
    what: 'a 204 with a body that comes later',
    says: ['HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n', 'OK'],
    curl: 204,
    go: 204,
    herald: 204,
    note: 'body_not_allowed',
    answer: '',
  },
  {
    what: 'a 204 with JSON and a type',
    says: 'HTTP/1.1 204 No Content\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n{"received":true}',
    curl: 204,
    go: 204,
    herald: 204,
    note: 'body_not_allowed',
    answer: '',
  },
  {
    what: 'a 304 with a length and its body',
    says: 'HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nOK',
    curl: 304,
    go: 304,
    herald: 304,
    note: 'body_not_allowed',
    answer: '',
  },
  {
    what: 'a 304 with a body of no length',
    says: 'HTTP/1.1 304 Not Modified\r\n\r\nOK',
    curl: 304,
    go: 304,
    herald: 304,
    note: 'body_not_allowed',
    answer: '',
  },
  {
    what: 'a 205 with a length and a body',
    says: 'HTTP/1.1 205 Reset Content\r\nContent-Length: 2\r\n\r\nOK',
    curl: 205,
    go: 205,
    herald: 205,
    note: 'body_not_allowed',
    answer: 'OK',
  },
  {
    what: 'a 205 with a body until the close',
    says: 'HTTP/1.1 205 Reset Content\r\n\r\nOK',
    end: 'close',
    curl: 205,
    go: 205,
    herald: 205,
    answer: 'OK',
  },
  // Lengths
  {
    what: 'a length in characters, the body in UTF-8',
    says: `${OK}Content-Length: 6\r\n\r\nM\u00fcller`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'extra_bytes',
    answer: 'Mülle',
  },
  {
    what: 'a length in characters, then the close',
    says: `${OK}Content-Length: 6\r\nConnection: close\r\n\r\nM\u00fcller`,
    end: 'close',
    curl: 200,
    go: 200,
    herald: 200,
    note: 'extra_bytes',
    answer: 'Mülle',
  },
  {
    what: 'a length of 0, then a body',
    says: `${OK}Content-Length: 0\r\n\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'extra_bytes',
    answer: '',
  },
  {
    what: 'a length, and a warning of PHP behind its body',
    says: `${OK}${CL2}Content-Type: text/html\r\n\r\nok<br />\n<b>Warning</b>: Undefined variable`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'extra_bytes',
  },
  { what: 'a length, and a line end behind its body', says: `${OK}${CL2}\r\nok\r\n`, curl: 200, go: 200, herald: 200 },
  {
    what: 'a second answer behind the first',
    says: `${OK}${CL2}\r\nok${OK}${CL2}\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
  },
  {
    what: 'a length that is too long, then the close',
    says: `${OK}Content-Length: 9\r\n\r\nok`,
    end: 'close',
    curl: 200,
    go: 200,
    herald: 200,
    note: 'body_cut',
  },
  {
    what: 'a length that is too long, then a reset',
    says: `${OK}Content-Length: 9\r\n\r\nok`,
    end: 'reset',
    curl: 200,
    go: 200,
    herald: 200,
    note: 'body_cut',
  },
  {
    what: 'a length that is too long, then nothing',
    says: `${OK}Content-Length: 9\r\n\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'body_stalled',
  },
  { what: 'no length, and no close', says: `${OK}\r\nok`, curl: 200, go: 200, herald: 200, note: 'body_stalled' },
  { what: 'two equal lengths', says: `${OK}${CL2}${CL2}\r\nok`, curl: 200, go: 200, herald: 200, note: 'odd_headers' },
  {
    what: 'two equal lengths, apart',
    says: [`${OK}${CL2}`, 'X-A: b\r\nContent-Le', `ngth: 2\r\n\r\nok`],
    curl: 200,
    go: 200,
    herald: 200,
    note: 'odd_headers',
  },
  {
    what: 'three equal lengths',
    says: `${OK}${CL2}${CL2}${CL2}\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'odd_headers',
  },
  {
    what: 'two equal lengths, a blank before the colon of the second',
    says: `${OK}${CL2}Content-Length : 2\r\n\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'odd_headers',
  },
  {
    what: 'two equal lengths, the second folded',
    says: `${OK}${CL2}Content-Length:\r\n 2\r\n\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'odd_headers',
  },
  {
    what: 'two lengths that differ, the first folded',
    says: `${OK}Content-Length:\r\n 1\r\n${CL2}\r\nok`,
    curl: 200,
    go: 'refused',
    herald: 'malformed_answer',
    because: 'Go refuses it too',
  },
  {
    what: 'two lengths that differ',
    says: `${OK}Content-Length: 1\r\n${CL2}\r\nok`,
    curl: 200,
    go: 'refused',
    herald: 'malformed_answer',
    because: 'Go refuses it too: nobody knows which is right, and somebody in between may have spoken',
  },
  {
    what: 'equal lengths in one header',
    says: `${OK}Content-Length: 2, 2\r\n\r\nok`,
    curl: 200,
    go: 'refused',
    herald: 'malformed_answer',
    because: 'Go refuses it too',
  },
  {
    what: 'a length with a plus',
    says: `${OK}Content-Length: +2\r\n\r\nok`,
    curl: 200,
    go: 'refused',
    herald: 'malformed_answer',
    because: 'Go refuses it too',
  },
  {
    what: 'a negative length',
    says: `${OK}Content-Length: -2\r\n\r\nok`,
    curl: 200,
    go: 'refused',
    herald: 'malformed_answer',
    because: 'Go refuses it too, and curl ends with an error',
  },
  {
    what: 'a length in hexadecimal',
    says: `${OK}Content-Length: 0x2\r\n\r\nok`,
    curl: 200,
    go: 'refused',
    herald: 'malformed_answer',
    because: 'Go refuses it too',
  },
  {
    what: 'an empty length',
    says: `${OK}Content-Length:\r\n\r\nok`,
    end: 'close',
    curl: 200,
    go: 'refused',
    herald: 'malformed_answer',
    because: 'Go refuses it too, and curl ends with an error',
  },
  {
    what: 'a length beyond 64 bits',
    says: `${OK}Content-Length: 99999999999999999999\r\n\r\nok`,
    curl: 200,
    go: 'refused',
    herald: 'malformed_answer',
    because: 'Go refuses it too',
  },
  {
    what: 'a length with zeros in front',
    says: `${OK}Content-Length: 0002\r\n\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
  },
  {
    what: 'a length, then chunked',
    says: `${OK}${CL2}${CHUNKED}\r\n2\r\nok\r\n0\r\n\r\n`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'odd_headers',
  },
  {
    what: 'chunked, then a length',
    says: `${OK}${CHUNKED}${CL2}\r\n2\r\nok\r\n0\r\n\r\n`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'odd_headers',
  },
  // Transfer-Encoding
  {
    what: 'identity and a length',
    says: `${OK}Transfer-Encoding: identity\r\n${CL2}\r\nok`,
    curl: 200,
    go: 'refused',
    herald: 200,
    note: 'body_stalled',
    because: 'curl reads it, and the status is all that counts',
  },
  {
    what: 'HTTP/1.0, identity and a length',
    says: `HTTP/1.0 200 OK\r\nTransfer-Encoding: identity\r\n${CL2}\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'body_stalled',
  },
  {
    what: 'Chunked in capitals',
    says: `${OK}Transfer-Encoding: CHUNKED\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
    curl: 200,
    go: 200,
    herald: 200,
  },
  {
    what: 'gzip and chunked',
    says: `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
    curl: 200,
    go: 'refused',
    herald: 200,
    note: 'odd_headers',
    because: 'curl has the status; the body is never unpacked',
  },
  {
    what: 'chunked twice',
    says: `${OK}${CHUNKED}${CHUNKED}\r\n2\r\nok\r\n0\r\n\r\n`,
    curl: 200,
    go: 'refused',
    herald: 200,
    note: 'odd_headers',
    because: 'curl reads it',
  },
  {
    what: 'an unknown encoding until the close',
    says: `${OK}Transfer-Encoding: xyz\r\n\r\nok`,
    end: 'close',
    curl: 200,
    go: 'refused',
    herald: 200,
    note: 'odd_headers',
    because: 'curl has the status; the body is never decoded',
  },
  {
    what: 'HTTP/1.0 and chunked',
    says: `HTTP/1.0 200 OK\r\n${CHUNKED}\r\n2\r\nok\r\n0\r\n\r\n`,
    end: 'close',
    curl: 200,
    go: 200,
    herald: 200,
    note: 'odd_headers',
  },
  // Chunks
  {
    what: 'a blank behind the size of a chunk',
    says: `${OK}${CHUNKED}\r\n2 \r\nok\r\n0\r\n\r\n`,
    curl: 200,
    go: 200,
    herald: 200,
  },
  {
    what: 'many blanks behind the size of a chunk',
    says: `${OK}${CHUNKED}\r\n2     \r\nok\r\n0     \r\n\r\n`,
    curl: 200,
    go: 200,
    herald: 200,
  },
  {
    what: 'a blank before the size of a chunk',
    says: `${OK}${CHUNKED}\r\n 2\r\nok\r\n0\r\n\r\n`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'body_malformed',
    answer: '',
  },
  {
    what: 'chunks with LF alone',
    says: `${OK}${CHUNKED}\r\n2\nok\n0\n\n`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'body_stalled',
  },
  {
    what: 'no line end behind a chunk',
    says: `${OK}${CHUNKED}\r\n2\r\nok0\r\n\r\n`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'body_malformed',
  },
  {
    what: 'a size of a chunk that is no number',
    says: `${OK}${CHUNKED}\r\nzz\r\nok\r\n0\r\n\r\n`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'body_malformed',
    answer: '',
  },
  {
    what: 'a size of a chunk with 0x',
    says: `${OK}${CHUNKED}\r\n0x2\r\nok\r\n0\r\n\r\n`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'body_malformed',
    answer: '',
  },
  {
    what: 'an empty size of a chunk',
    says: `${OK}${CHUNKED}\r\n\r\nok\r\n0\r\n\r\n`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'body_malformed',
    answer: '',
  },
  {
    what: 'a size of a chunk beyond 64 bits',
    says: `${OK}${CHUNKED}\r\nfffffffffffffffff\r\nok\r\n0\r\n\r\n`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'body_malformed',
    answer: '',
  },
  {
    what: 'no last chunk, then the close',
    says: `${OK}${CHUNKED}\r\n2\r\nok\r\n`,
    end: 'close',
    curl: 200,
    go: 200,
    herald: 200,
    note: 'body_cut',
  },
  {
    what: 'no last chunk, then nothing',
    says: `${OK}${CHUNKED}\r\n2\r\nok\r\n`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'body_stalled',
  },
  {
    what: 'a chunk that is cut',
    says: `${OK}${CHUNKED}\r\n5\r\nok`,
    end: 'close',
    curl: 200,
    go: 200,
    herald: 200,
    note: 'body_cut',
  },
  {
    what: 'no line end behind the last chunk, then the close',
    says: `${OK}${CHUNKED}\r\n2\r\nok\r\n0\r\n`,
    end: 'close',
    curl: 200,
    go: 200,
    herald: 200,
    note: 'body_cut',
  },
  {
    what: 'bytes behind the last chunk',
    says: `${OK}${CHUNKED}\r\n2\r\nok\r\n0\r\n\r\nmore`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'extra_bytes',
  },
  {
    what: 'chunked, and a body that is not',
    says: `${OK}${CHUNKED}\r\n{"received":true}`,
    end: 'close',
    curl: 200,
    go: 200,
    herald: 200,
    note: 'body_malformed',
    answer: '',
  },
  {
    what: 'LF alone behind a chunk',
    says: `${OK}${CHUNKED}\r\n2\r\nok\n0\r\n\r\n`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'body_malformed',
  },
  {
    what: 'CR alone behind the size of a chunk',
    says: `${OK}${CHUNKED}\r\n2\rok\r\n0\r\n\r\n`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'body_malformed',
  },
  // Heads
  {
    what: 'a folded header',
    says: `${OK}X-A: b\r\n c\r\n${CL2}\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'odd_headers',
  },
  {
    what: 'a header folded with a tab',
    says: `${OK}X-A: b\r\n\tc\r\n\td\r\n${CL2}\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'odd_headers',
  },
  {
    what: 'a folded length',
    says: `${OK}Content-Length:\r\n 2\r\n\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'odd_headers',
  },
  {
    what: 'a first header that is folded',
    says: `${OK} X-A: b\r\n${CL2}\r\nok`,
    curl: 200,
    go: 'refused',
    herald: 'malformed_answer',
    because: 'both refuse what follows the status line',
  },
  {
    what: 'LF alone',
    says: 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok',
    curl: 200,
    go: 200,
    herald: 200,
    note: 'odd_headers',
  },
  {
    what: 'LF alone in some lines',
    says: `HTTP/1.1 200 OK\nServer: a\r\n${CL2}\nok`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'odd_headers',
  },
  {
    what: 'CR alone in a value',
    says: `${OK}X-A: b\rc\r\n${CL2}\r\nok`,
    curl: 200,
    go: 'refused',
    herald: 'malformed_answer',
    because: 'Go refuses it too: others end a line there',
  },
  {
    what: 'CR alone as line ends',
    says: 'HTTP/1.1 200 OK\rContent-Length: 2\r\rok',
    end: 'close',
    curl: 'refused',
    go: 'refused',
    herald: 'malformed_answer',
  },
  {
    what: 'a blank in a name',
    says: `${OK}X Powered By: PHP\r\n${CL2}\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'odd_headers',
  },
  {
    what: 'a blank before the colon',
    says: `${OK}X-A : b\r\n${CL2}\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'odd_headers',
  },
  {
    what: 'a blank before the colon of the length',
    says: `${OK}Content-Length : 2\r\n\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'odd_headers',
  },
  {
    what: 'a tab in a name',
    says: `${OK}X-A\t: b\r\n${CL2}\r\nok`,
    curl: 200,
    go: 'refused',
    herald: 'malformed_answer',
    because: 'Go refuses it too',
  },
  {
    what: 'a header without a colon',
    says: `${OK}Warning\r\n${CL2}\r\nok`,
    curl: 200,
    go: 'refused',
    herald: 'malformed_answer',
    because: 'Go refuses it too, and curl ends with an error',
  },
  {
    what: 'a line of PHP among the headers',
    says: `${OK}X-A: b\r\nWarning: in /a.php on line 2\r\n${CL2}\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
  },
  {
    what: 'a header without a name',
    says: `${OK}: b\r\n${CL2}\r\nok`,
    curl: 200,
    go: 'refused',
    herald: 'malformed_answer',
    because: 'Go refuses it too',
  },
  {
    what: 'brackets and an at sign in a name',
    says: `${OK}X-A(b)@c: d\r\n${CL2}\r\nok`,
    curl: 200,
    go: 'refused',
    herald: 'malformed_answer',
    because: 'Go refuses it too',
  },
  {
    what: 'UTF-8 in a name',
    says: `${OK}X-D\u00e9j\u00e0: b\r\n${CL2}\r\nok`,
    curl: 200,
    go: 'refused',
    herald: 'malformed_answer',
    because: 'Go refuses it too',
  },
  {
    what: 'a control byte in a name',
    says: `${OK}X-\u0001A: b\r\n${CL2}\r\nok`,
    curl: 200,
    go: 'refused',
    herald: 'malformed_answer',
    because: 'Go refuses it too',
  },
  {
    what: 'a NUL in a value',
    says: `${OK}X-A: b\0c\r\n${CL2}\r\nok`,
    curl: 200,
    go: 'refused',
    herald: 'malformed_answer',
    because: 'Go refuses it too, and curl ends with an error',
  },
  {
    what: 'a control byte in a value',
    says: `${OK}X-A: b\u0001c\r\n${CL2}\r\nok`,
    curl: 200,
    go: 'refused',
    herald: 200,
    note: 'odd_headers',
    because: 'curl reads it; it is shown as U+FFFD',
  },
  {
    what: 'DEL in a value',
    says: `${OK}X-A: b\u007fc\r\n${CL2}\r\nok`,
    curl: 200,
    go: 'refused',
    herald: 200,
    note: 'odd_headers',
    because: 'curl reads it; it is shown as U+FFFD',
  },
  {
    what: 'a control byte in the reason',
    says: `HTTP/1.1 200 O\u0001K\r\n${CL2}\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
  },
  {
    what: 'a NUL in the reason',
    says: `HTTP/1.1 200 O\0K\r\n${CL2}\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'odd_headers',
  },
  {
    what: 'a NUL in the status',
    says: `HTTP/1.1 20\0 OK\r\n${CL2}\r\nok`,
    curl: 'refused',
    go: 'refused',
    herald: 'malformed_answer',
  },
  {
    what: 'a CR in the reason',
    says: `HTTP/1.1 200 O\rK\r\n${CL2}\r\nok`,
    curl: 200,
    go: 200,
    herald: 'malformed_answer',
    because: "Node's parser ends the line there, and no server is known to write one",
  },
  {
    what: 'a CR in the reason, and a header behind it',
    says: `HTTP/1.1 200 OK\rX-A: b\r\n${CL2}\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'odd_headers',
  },
  {
    what: 'CR alone as the end of the head',
    says: `${OK}${CL2}\rok`,
    curl: 200,
    go: 'refused',
    herald: 'malformed_answer',
    because: 'the head never ends, and Go refuses it too',
  },
  {
    what: 'a length in a 100',
    says: `HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\n${OK}${CL2}\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'odd_headers',
  },
  {
    what: 'an empty line before the status',
    says: `\r\n${OK}${CL2}\r\nok`,
    curl: 'refused',
    go: 'refused',
    herald: 200,
    note: 'odd_headers',
    because: 'RFC 9112 section 2.2 lets a server skip one, and Node does so in answers',
  },
  {
    what: 'a byte order mark before the status',
    says: `\ufeff${OK}${CL2}\r\nok`,
    curl: 'refused',
    go: 'refused',
    herald: 'malformed_answer',
  },
  {
    what: 'a blank before the status line',
    says: ` ${OK}${CL2}\r\nok`,
    curl: 'refused',
    go: 'refused',
    herald: 'malformed_answer',
  },
  {
    what: 'two blanks before the status',
    says: `HTTP/1.1  200 OK\r\n${CL2}\r\nok`,
    curl: 200,
    go: 200,
    herald: 'malformed_answer',
    because: "Node's parser takes one blank, and no server is known to write two",
  },
  {
    what: 'a tab before the status',
    says: `HTTP/1.1\t200 OK\r\n${CL2}\r\nok`,
    curl: 'refused',
    go: 'refused',
    herald: 'malformed_answer',
  },
  {
    what: 'no blank behind the status',
    says: `HTTP/1.1 200OK\r\n${CL2}\r\nok`,
    curl: 200,
    go: 'refused',
    herald: 'malformed_answer',
    because: 'Go refuses it too',
  },
  {
    what: 'http in small letters',
    says: `http/1.1 200 OK\r\n${CL2}\r\nok`,
    curl: 200,
    go: 'refused',
    herald: 'malformed_answer',
    because: 'Go refuses it too',
  },
  {
    what: 'HTTP/1.2',
    says: `HTTP/1.2 200 OK\r\n${CL2}\r\nok`,
    curl: 'refused',
    go: 200,
    herald: 200,
    note: 'odd_headers',
    because: 'Go reads it: a minor version changes nothing (RFC 9110 section 2.5)',
  },
  {
    what: 'HTTP/1.9',
    says: `HTTP/1.9 200 OK\r\n${CL2}\r\nok`,
    curl: 'refused',
    go: 200,
    herald: 200,
    note: 'odd_headers',
    because: 'Go reads it: a minor version changes nothing (RFC 9110 section 2.5)',
  },
  {
    what: 'HTTP/0.9 with a status',
    says: `HTTP/0.9 200 OK\r\n${CL2}\r\nok`,
    curl: 'refused',
    go: 200,
    herald: 200,
    note: 'odd_headers',
    because: 'Go reads it, and the head is one of HTTP/1',
  },
  {
    what: 'HTTP/2.0 in HTTP/1.1',
    says: `HTTP/2.0 200 OK\r\n${CL2}\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
    note: 'odd_headers',
  },
  {
    what: 'HTTP/1 without a minor version',
    says: `HTTP/1 200 OK\r\n${CL2}\r\nok`,
    curl: 'refused',
    go: 'refused',
    herald: 'malformed_answer',
  },
  {
    what: 'HTTP/1.10',
    says: `HTTP/1.10 200 OK\r\n${CL2}\r\nok`,
    curl: 'refused',
    go: 'refused',
    herald: 'malformed_answer',
  },
  {
    what: 'ICY',
    says: `ICY 200 OK\r\n${CL2}\r\nok`,
    end: 'close',
    curl: 'refused',
    go: 'refused',
    herald: 'malformed_answer',
  },
  {
    what: 'a status of two digits',
    says: `HTTP/1.1 20 OK\r\n${CL2}\r\nok`,
    curl: 'refused',
    go: 'refused',
    herald: 'malformed_answer',
  },
  {
    what: 'a status of four digits',
    says: `HTTP/1.1 2000 OK\r\n${CL2}\r\nok`,
    curl: 'refused',
    go: 'refused',
    herald: 'malformed_answer',
  },
  {
    what: 'the status 099',
    says: `HTTP/1.1 099 OK\r\n${CL2}\r\nok`,
    curl: 'refused',
    go: 99,
    herald: 'malformed_answer',
    because: 'there is no such status (RFC 9110 section 15)',
  },
  {
    what: 'the status 600',
    says: `HTTP/1.1 600 OK\r\n${CL2}\r\nok`,
    curl: 600,
    go: 600,
    herald: 'malformed_answer',
    because: 'there is no such status (RFC 9110 section 15)',
  },
  {
    what: 'the status 999',
    says: `HTTP/1.1 999 OK\r\n${CL2}\r\nok`,
    curl: 999,
    go: 999,
    herald: 'malformed_answer',
    because: 'there is no such status (RFC 9110 section 15)',
  },
  {
    what: 'no status',
    says: 'HTTP/1.1 OK\r\nContent-Length: 2\r\n\r\nok',
    curl: 'refused',
    go: 'refused',
    herald: 'malformed_answer',
  },
  {
    what: 'the greeting of SSH',
    says: 'SSH-2.0-OpenSSH_9.6\r\n',
    end: 'close',
    curl: 'refused',
    go: 'refused',
    herald: 'malformed_answer',
  },
  {
    what: 'HTML without a head',
    says: '<html>hello</html>',
    end: 'close',
    curl: 'refused',
    go: 'refused',
    herald: 'malformed_answer',
  },
  { what: 'nothing', says: '', end: 'close', curl: 'refused', go: 'refused', herald: 'connection_reset' },
  { what: 'a reset', says: '', end: 'reset', curl: 'refused', go: 'refused', herald: 'connection_reset' },
  {
    what: 'a status line that is cut',
    says: 'HTTP/1.1 200 O',
    end: 'close',
    curl: 'refused',
    go: 'refused',
    herald: 'connection_reset',
  },
  {
    what: 'headers that are cut',
    says: `${OK}X-A: b`,
    end: 'close',
    curl: 200,
    go: 'refused',
    herald: 'connection_reset',
    because: 'the headers never came, and Go refuses it too',
  },
  {
    what: 'headers that are cut behind a line',
    says: `${OK}X-A: b\r\n`,
    end: 'close',
    curl: 200,
    go: 'refused',
    herald: 'connection_reset',
    because: 'the headers never came, and Go refuses it too',
  },
  {
    what: "headers that don't end",
    says: `${OK}X-A: b\r\n`,
    curl: 200,
    go: 'refused',
    herald: 'timeout_response',
    because: 'the headers never came, and Go refuses it too',
  },
  {
    what: '101 unasked',
    says: 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n',
    curl: 101,
    go: 101,
    herald: 'malformed_answer',
    because: 'no request asks for another protocol, so what follows is not HTTP',
  },
  {
    what: '101 unasked, without Upgrade',
    says: 'HTTP/1.1 101 Switching Protocols\r\n\r\n',
    end: 'close',
    curl: 101,
    go: 101,
    herald: 101,
    note: 'odd_headers',
    answer: '',
  },
  {
    what: '100 alone, then the close',
    says: 'HTTP/1.1 100 Continue\r\n\r\n',
    end: 'close',
    curl: 100,
    go: 'refused',
    herald: 'connection_reset',
    because: 'it is no answer, and Go refuses it too',
  },
  // The end of the connection
  { what: 'a whole answer, then a reset', says: `${OK}${CL2}\r\nok`, end: 'reset', curl: 200, go: 200, herald: 200 },
  {
    what: 'a head, then a reset',
    says: `${OK}${CL2}\r\n`,
    end: 'reset',
    curl: 200,
    go: 'refused',
    herald: 200,
    note: 'body_cut',
    answer: '',
    because: 'curl has the status; whether Go has it depends on how soon the reset comes',
  },
  {
    what: 'a head until the close, then a reset',
    says: `${OK}\r\nok`,
    end: 'reset',
    curl: 200,
    go: 200,
    herald: 200,
    note: 'body_cut',
  },
  {
    what: 'a 204, then a reset',
    says: 'HTTP/1.1 204 No Content\r\n\r\n',
    end: 'reset',
    curl: 204,
    go: 'refused',
    herald: 204,
    answer: '',
    because: 'the answer was complete; whether Go has it depends on how soon the reset comes',
  },
  {
    what: 'a close that was announced',
    says: `${OK}Connection: close\r\n${CL2}\r\nok`,
    end: 'close',
    curl: 200,
    go: 200,
    herald: 200,
  },
  {
    what: 'keep-alive in HTTP/1.0',
    says: `HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n${CL2}\r\nok`,
    curl: 200,
    go: 200,
    herald: 200,
  },
];

/** A server takes its time between two parts, in ms. */
const BETWEEN_PARTS_MS = 5;
/** A reset throws away what is still on its way, in ms. */
const BEFORE_RESET_MS = 50;
/** What hangs ends here. */
const STALLED_MS = 4_000;
/** An answer in single bytes fits into it, also on a busy machine. */
const DEADLINE_MS = 20_000;

let authority: CertificateAuthority;
let credentials: Credentials;
let senders: Sender[] = [];

beforeAll(async () => {
  authority = await createCertificateAuthority();
  const { certPem, keyPem } = await authority.issueCertificate({ hosts: ['127.0.0.1'] });
  credentials = { cert: certPem, key: keyPem };
});

afterEach(() => {
  for (const sender of senders) sender.close();
  senders = [];
});

function start(deadlineMs = DEADLINE_MS): Sender {
  const sender = createEgressSender({
    allowCidrs: ['127.0.0.0/8'],
    caPem: authority.certPem,
    names: { bySystem: true },
    deadlineMs,
  });
  senders.push(sender);
  return sender;
}

/** A server that gives each request of a connection the next of these answers, and the last one again. */
function startRaw(...answers: readonly Pick<RawAnswer, 'says' | 'end'>[]) {
  const requests: string[] = [];
  return startTls(credentials, (socket) => {
    let received = '';
    let index = 0;
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
      if (!received.endsWith('{"a":1}')) return;
      requests.push(received);
      received = '';
      const { says, end } = answers[Math.min(index, answers.length - 1)] ?? { says: '' };
      index++;
      say(socket, [says].flat(), end);
    });
  });
}

function say(socket: Socket, [part = '', ...others]: readonly string[], end: RawAnswer['end']): void {
  const goOn = () => {
    if (others.length > 0) {
      setTimeout(say, BETWEEN_PARTS_MS, socket, others, end);
    } else if (end === 'close') {
      socket.end();
    } else if (end === 'reset') {
      setTimeout(reset, BEFORE_RESET_MS, socket);
    }
  };
  if (part === '') goOn();
  else socket.write(part, goOn);
}

function reset(socket: Socket): void {
  // Under TLS this is the socket that carries it.
  const carrier = (socket as Socket & { _parent?: Socket })._parent ?? socket;
  carrier.resetAndDestroy();
}

async function send(sender: Sender, url: string) {
  const { outcome } = await sender.send({ url, headers: {}, body: Buffer.from('{"a":1}') });
  if (outcome.kind === 'responded') return { told: outcome.status, note: outcome.bodyNote, answer: outcome.answer };
  if (outcome.kind === 'unreachable') return { told: outcome.reason };
  return { told: outcome.kind === 'timed_out' ? `timeout_${outcome.phase}` : outcome.kind };
}

test.concurrent.each(ANSWERS)('$what: curl reads $curl, Go $go, Herald $herald', async (raw) => {
  const { says, end, herald, note, answer = 'ok', because } = raw;
  await using server = await startRaw({ says, ...(end && { end }) });
  const stalls = note === 'body_stalled' || herald === 'timeout_response';
  const read = await send(start(stalls ? STALLED_MS : DEADLINE_MS), server.url);
  expect(read).toEqual(typeof herald === 'number' ? { told: herald, note, answer } : { told: herald });
  const isLikeOthers = [raw.curl, raw.go].every((other) => other === (typeof herald === 'number' ? herald : 'refused'));
  expect(because !== undefined).toBe(!isLikeOthers);
});

describe('a connection', () => {
  const EVEN = { says: `${OK}${CL2}\r\nok` };

  test.each(ANSWERS.filter(({ note, herald }) => note !== undefined && typeof herald === 'number'))(
    'is not used again after $what',
    async ({ says, end, herald, note }) => {
      await using server = await startRaw({ says, ...(end && { end }) });
      const sender = start(note === 'body_stalled' ? STALLED_MS : DEADLINE_MS);
      for (let i = 0; i < 2; i++) expect((await send(sender, server.url)).told).toBe(herald);
      expect(server.connections).toHaveLength(2);
    },
  );

  test('is used again after an answer by the letter', async () => {
    await using server = await startRaw(EVEN);
    const sender = start();
    for (let i = 0; i < 3; i++) expect(await send(sender, server.url)).toEqual({ told: 200, answer: 'ok' });
    expect(server.connections).toHaveLength(1);
  });

  test('on which a server says something unasked is closed', async () => {
    const idle = Promise.withResolvers<Socket>();
    await using server = await startTls(credentials, (socket) => {
      socket.on('data', () => {
        socket.write(`${OK}${CL2}\r\nok`);
        idle.resolve(socket);
      });
    });
    const sender = start();
    expect((await send(sender, server.url)).told).toBe(200);
    (await idle.promise).write(`HTTP/1.1 500 Forged\r\nContent-Length: 0\r\n\r\n`);
    await server.allClosed();
    expect((await send(sender, server.url)).told).toBe(200);
    expect(server.connections).toHaveLength(2);
  });

  test.each([
    {
      what: '408, because it was unused for too long',
      says: 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n',
    },
    { what: 'the rest of an answer that was over', says: 'OK' },
  ])('on which the server says $what is replaced within the attempt', async ({ says }) => {
    await using server = await startRaw(EVEN, { says, end: 'close' });
    const sender = start();
    for (let i = 0; i < 2; i++) expect((await send(sender, server.url)).told).toBe(200);
    expect(server.connections).toHaveLength(2);
  });

  test('that is new and on which the server says 408 has its answer', async () => {
    await using server = await startRaw({ says: 'HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n' });
    expect((await send(start(), server.url)).told).toBe(408);
    expect(server.connections).toHaveLength(1);
  });

  test('that is new and closed at once, without a byte, is replaced once within the attempt', async () => {
    let connections = 0;
    await using server = await startTls(credentials, (socket) => {
      connections += 1;
      if (connections === 1) socket.once('data', () => socket.end());
      else socket.on('data', () => socket.write(`${OK}${CL2}\r\nok`));
    });
    expect((await send(start(), server.url)).told).toBe(200);
    expect(connections).toBe(2);
  });

  test('that is new and closed later is not: the server may have worked on the request', async () => {
    await using server = await startTls(credentials, (socket) => {
      socket.once('data', () => setTimeout(() => socket.end(), 1_100));
    });
    expect((await send(start(), server.url)).told).toBe('connection_reset');
    expect(server.connections).toHaveLength(1);
  });
});

describe('the head of an answer', () => {
  const heads = ANSWERS.map(({ says }) => Buffer.from([says].flat().join('')));

  /** How it is read when it comes in these parts: what Node's parser gets, and what is noted. */
  function readIn(bytes: Buffer, cuts: readonly number[]) {
    const head = new AnswerHead();
    const copy = Buffer.from(bytes);
    const ends = [...new Set([...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
    let at = 0;
    for (const end of ends) {
      if (end > at && !head.read(copy.subarray(at, end))) return { isRefused: true };
      at = end;
    }
    return { mended: copy.toString('latin1'), note: head.note, isAnswer: head.isAnswer };
  }

  test('reads the same in whatever parts it comes', () => {
    fc.assert(
      fc.property(fc.constantFrom(...heads), fc.array(fc.nat({ max: 400 }), { maxLength: 8 }), (bytes, cuts) => {
        expect(readIn(bytes, [0, 1, ...cuts])).toEqual(readIn(bytes, []));
      }),
      { numRuns: 2_000 },
    );
  });

  test('is mended by as many bytes as it had, and only where it is odd', () => {
    for (const bytes of heads) {
      const text = bytes.toString('latin1');
      const { mended = text, note } = readIn(bytes, []);
      expect(mended).toHaveLength(bytes.length);
      expect([text, note]).toContain(note === 'odd_headers' ? note : mended);
    }
  });
});
