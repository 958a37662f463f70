import type { BodyNote } from '@herald/core';

/**
 * Nearly every answer: a whole head in the first bytes, by the letter of RFC 9112. Names and values are those that
 * Node's strict parser takes.
 */
const STRICT =
  /^HTTP\/1\.[01] ([2-5]\d\d)(?: [\t -~\x80-\xff]*)?\r\n((?:[!#-'*+\-.^-z|~\w]+:[\t -~\x80-\xff]*\r\n)*)\r\n/;
/** Both a length and an encoding, or one of them twice. */
const FRAMED_TWICE = /^(?:content-length|transfer-encoding):[^]*^(?:content-length|transfer-encoding):/im;
const CHUNKED = /^transfer-encoding:[ \t]*chunked[ \t]*\r$/im;
const ENCODED = /^transfer-encoding:/im;
/** RFC 9110 sections 15.3.5 and 15.3.6: what announces content is odd. A 304 may tell a length. */
const NO_CONTENT = new Set(['204', '205']);
/** An encoding in an answer of an earlier version is odd (RFC 9112, section 6.1). */
const CHUNKS_SINCE = 'HTTP/1.1';
/** A longer head is read byte by byte. */
const STRICT_BYTES = 8 * 1_024;

const STATUS_LINE = /^HTTP\/(\d\.\d)[ \t]+(\d+)/;
const ANSWER_BEGINS = 'HTTP/';
/** What is kept of a line, a name and a value while they are read. */
const KEPT = 64;
/** Answers of 1xx that may come before the answer. Go's client took five for long. */
const MOST_INTERIM = 32;

const [TAB, LF, CR, BLANK, DASH, COLON, UNDERSCORE, DELETE] = [0x09, 0x0a, 0x0d, 0x20, 0x2d, 0x3a, 0x5f, 0x7f] as const;
const SEMICOLON = 0x3b;

/**
 * Reads heads of one request's answer as their bytes come, and mends in place what curl and Go's client read and Node's
 * parser, however lenient, doesn't: a length that is said twice, and a blank in or behind a name. Each mended byte is
 * replaced by one other, so nothing moves. It also notes what is odd but read.
 */
export class AnswerHead {
  #begin = '';
  #isOver = false;
  #hasBegun = false;
  /** Undefined: the strict patterns have read all of it. */
  #bytewise: BytewiseHead | undefined;
  /** The body that is read, too: two readers could disagree where it ends. */
  #chunks: Chunks | undefined;

  /** A byte came. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** What came begins as an answer does, so far. */
  get isAnswer(): boolean {
    return ANSWER_BEGINS.startsWith(this.#begin);
  }

  /** What is odd about it. A connection is not used again after such an answer. */
  get note(): BodyNote | undefined {
    return this.#bytewise?.note() ?? (this.#chunks?.areOdd() ? 'body_malformed' : undefined);
  }

  /**
   * Reads a part of the answer, in place, before Node's parser gets the same bytes. False: no client reads such a head,
   * and Node's parser must not either.
   */
  read(bytes: Buffer): boolean {
    if (this.#isOver) {
      this.#chunks?.read(bytes);
      return true;
    }
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      const [head, status = '', headers = ''] = STRICT.exec(bytes.toString('latin1', 0, STRICT_BYTES)) ?? [];
      if (head !== undefined && this.#isStrict(head, status, headers)) {
        this.#isOver = true;
        this.#chunks?.read(bytes.subarray(head.length));
        return true;
      }
    }
    if (this.#begin.length < ANSWER_BEGINS.length) {
      this.#begin = (this.#begin + bytes.toString('latin1', 0, ANSWER_BEGINS.length)).slice(0, ANSWER_BEGINS.length);
    }
    this.#bytewise ??= createBytewiseHead();
    const end = this.#bytewise.read(bytes);
    this.#isOver = this.#bytewise.isOver();
    if (this.#isOver && this.#bytewise.isChunked()) {
      this.#chunks = createChunks();
      this.#chunks.read(bytes.subarray(end));
    }
    return end !== undefined;
  }

  #isStrict(head: string, status: string, headers: string): boolean {
    if (NO_CONTENT.has(status) || FRAMED_TWICE.test(headers)) return false;
    if (!ENCODED.test(headers)) return true;
    if (!head.startsWith(CHUNKS_SINCE) || !CHUNKED.test(headers)) return false;
    this.#chunks = createChunks();
    return true;
  }
}

type Chunks = ReturnType<typeof createChunks>;

/**
 * Looks whether a body is chunked by the letter of RFC 9112, section 7.1, also where Node's lenient parser doesn't mind:
 * a line that LF or CR ends alone, and none behind a chunk.
 */
function createChunks() {
  let state: 'size' | 'extension' | 'data' | 'line' | 'trailer' | 'over' = 'size';
  let areOdd = false;
  let previous = 0;
  /** What a chunk's size says so far, and then what is left of the chunk. */
  let left = 0;

  const endLine = (): void => {
    if (previous !== CR) areOdd = true;
    if (state === 'size' || state === 'extension') {
      state = left > 0 ? 'data' : 'line';
    } else if (state === 'data') {
      state = 'size';
    } else {
      state = state === 'line' ? 'over' : 'line';
    }
  };

  const readByte = (byte: number): void => {
    if (byte === LF) {
      endLine();
    } else if (previous === CR || (state === 'data' && byte !== CR)) {
      areOdd = true;
    } else if (state === 'size' && byte !== CR) {
      if (byte === SEMICOLON || byte === BLANK || byte === TAB) state = 'extension';
      else left = 16 * left + Number.parseInt(String.fromCharCode(byte), 16);
    } else if (state === 'line' && byte !== CR) {
      state = 'trailer';
    }
    previous = byte;
  };

  return {
    read(bytes: Buffer): void {
      for (let at = 0; at < bytes.length && !areOdd && state !== 'over';) {
        if (state === 'data' && left > 0) {
          const skipped = Math.min(left, bytes.length - at);
          left -= skipped;
          at += skipped;
          previous = 0;
        } else {
          readByte(bytes[at] ?? 0);
          at++;
        }
      }
    },
    areOdd: () => areOdd,
  };
}

type BytewiseHead = ReturnType<typeof createBytewiseHead>;

function createBytewiseHead() {
  let isOver = false;
  let isOdd = false;
  let note: BodyNote | undefined;

  let state: 'status' | 'line' | 'name' | 'value' = 'status';
  let previous = 0;
  /** The status line, then each name and value, in small letters and cut. */
  let line = '';
  let name = '';
  let value = '';
  let status = 0;
  let headers = 0;
  let interim = 0;
  let length: string | undefined;
  let isRepeated = false;
  let version = '';
  let encoding: string | undefined;
  /** How long the body is said to be may go on in the next line. */
  let isOpen = false;

  /** False: no client reads so many. */
  const finish = (): boolean => {
    const isFinal = status < 100 || status > 199 || status === 101;
    const isFramed = length !== undefined || encoding !== undefined;
    if (isFramed && (!isFinal || (encoding !== undefined && !isPlain()))) isOdd = true;
    if (status === 101) isOdd = true;
    if (!isFinal) {
      [state, line, headers, length, encoding] = ['status', '', 0, undefined, undefined];
      return ++interim <= MOST_INTERIM;
    }
    isOver = true;
    note = noteOf(status, length, encoding);
    return true;
  };

  /** The encoding says where the body ends, and nothing else does. */
  const isPlain = (): boolean => length === undefined && encoding === 'chunked' && version === '1.1';

  const endLine = (): void => {
    if (previous !== CR) isOdd = true;
    if (state === 'status') {
      if (line.trim() === '') return;
      const [, minor = '', digits = '0'] = STATUS_LINE.exec(line) ?? [];
      if (minor !== '1.1' && minor !== '1.0') isOdd = true;
      [version, status] = [minor, Number(digits)];
    } else if (state === 'value') {
      headers++;
      isOpen = name === 'content-length' || name === 'transfer-encoding';
    }
    state = 'line';
  };

  /** A value is over: no line continues it. False: it is another length than the first. */
  const endValue = (): boolean => {
    if (!isOpen) return true;
    isOpen = false;
    if (name === 'transfer-encoding') {
      encoding = [encoding, value.trim().toLowerCase()].filter((each) => each !== undefined).join(',');
      return true;
    }
    if (isRepeated && value.trim() !== length) return false;
    length ??= value.trim();
    return true;
  };

  /** False: no client reads on. */
  const readByte = (bytes: Buffer, index: number): boolean => {
    const byte = bytes[index] ?? 0;
    if (byte === 0 && state !== 'status') return false;
    // Node ends a line there, and others don't.
    if (previous === CR && byte !== LF && byte !== CR) {
      isOdd = true;
      if (state === 'line') return false;
    }
    if (state === 'line') return startLine(bytes, index);
    if (byte === LF) {
      endLine();
    } else if (state === 'status') {
      if (line.length < KEPT) line += String.fromCharCode(byte);
      if (byte === 0) readNul(bytes, index);
    } else if (state === 'name') {
      if (byte === COLON) state = 'value';
      else readName(bytes, index);
    } else {
      if (value.length < KEPT) value += String.fromCharCode(byte);
      // Control bytes: curl reads them, and they are shown as U+FFFD.
      if ((byte < BLANK && byte !== TAB && byte !== CR) || byte === DELETE) isOdd = true;
    }
    return true;
  };

  /** False: the lengths differ, a line that continues another stands first, or too many answers of 1xx came. */
  const startLine = (bytes: Buffer, index: number): boolean => {
    const byte = bytes[index] ?? 0;
    if (byte === CR) return true;
    if (byte === BLANK || byte === TAB) {
      isOdd = true;
      state = 'value';
      return headers > 0;
    }
    if (!endValue()) return false;
    if (byte === LF) {
      if (previous !== CR) isOdd = true;
      return finish();
    }
    [state, name, value, isRepeated] = ['name', '', '', false];
    readName(bytes, index);
    return true;
  };

  /** In the reason behind a status, which nobody reads. Elsewhere in that line Node refuses what stands instead. */
  const readNul = (bytes: Buffer, index: number): void => {
    isOdd = true;
    bytes[index] = DASH;
  };

  const readName = (bytes: Buffer, index: number): void => {
    const byte = bytes[index] ?? 0;
    if (byte === BLANK) {
      isOdd = true;
      // Node takes a blank behind the names that frame the body, and must know them. It doesn't know a second length.
      if (isRepeated || (name !== 'content-length' && name !== 'transfer-encoding')) bytes[index] = DASH;
      return;
    }
    if (name.length < KEPT) name += String.fromCharCode(byte).toLowerCase();
    if (name === 'content-length' && length !== undefined) {
      // The first stays. Node must not see the second.
      bytes[index] = UNDERSCORE;
      isRepeated = true;
      isOdd = true;
    }
  };

  return {
    /** Where it stopped reading; undefined: no client reads on. */
    read(bytes: Buffer): number | undefined {
      for (const [index, byte] of bytes.entries()) {
        // `byte` is what came: it may be mended below.
        if (!readByte(bytes, index)) return undefined;
        previous = byte;
        if (isOver) return index + 1;
      }
      return bytes.length;
    },
    /** By the letter: then its body should be, too. */
    isChunked: () => encoding !== undefined && isPlain(),
    isOver: () => isOver,
    note: () => note ?? (isOdd ? 'odd_headers' : undefined),
  };
}

/** 204 and 205 have no content, and say so by no length or 0. */
function noteOf(status: number, length?: string, encoding?: string): BodyNote | undefined {
  if (!NO_CONTENT.has(String(status))) return undefined;
  const announces = encoding !== undefined || (length !== undefined && Number(length) !== 0);
  return announces ? 'body_not_allowed' : undefined;
}
