import { errorCodeOf, isSuccess, type AttemptOutcome, type CountedOutcome } from './attempt.ts';

const responded = (status: number): CountedOutcome => ({ kind: 'responded', status, answer: '' });

type Case = { when: string; outcome: CountedOutcome; code: string | undefined };

test.each<Case>([
  { when: 'a success', outcome: responded(200), code: undefined },
  { when: 'a refusal with a status', outcome: responded(503), code: undefined },
  { when: 'the deadline during the look-up', outcome: { kind: 'timed_out', phase: 'lookup' }, code: 'timeout_lookup' },
  { when: 'the deadline during connecting', outcome: { kind: 'timed_out', phase: 'connect' }, code: 'timeout_connect' },
  { when: 'the deadline during the handshake', outcome: { kind: 'timed_out', phase: 'tls' }, code: 'timeout_tls' },
  {
    when: 'the deadline before the headers',
    outcome: { kind: 'timed_out', phase: 'response' },
    code: 'timeout_response',
  },
  { when: 'an unknown name', outcome: { kind: 'unreachable', reason: 'dns_name_unknown' }, code: 'dns_name_unknown' },
  {
    when: 'a closed port',
    outcome: { kind: 'unreachable', reason: 'connection_refused' },
    code: 'connection_refused',
  },
  { when: 'a reset', outcome: { kind: 'unreachable', reason: 'connection_reset' }, code: 'connection_reset' },
  { when: 'no route', outcome: { kind: 'unreachable', reason: 'host_unreachable' }, code: 'host_unreachable' },
  { when: 'an old certificate', outcome: { kind: 'unreachable', reason: 'tls_expired' }, code: 'tls_expired' },
  { when: 'a failed handshake', outcome: { kind: 'unreachable', reason: 'tls_failed' }, code: 'tls_failed' },
  {
    when: 'an answer that is no HTTP',
    outcome: { kind: 'unreachable', reason: 'malformed_answer' },
    code: 'malformed_answer',
  },
  {
    when: 'any other failed connection',
    outcome: { kind: 'unreachable', reason: 'connection_failed' },
    code: 'connection_failed',
  },
  { when: 'a forbidden address', outcome: { kind: 'blocked' }, code: 'address_blocked' },
])('$when has the error code $code', ({ outcome, code }) => {
  expect(errorCodeOf(outcome)).toBe(code);
});

test.each<[AttemptOutcome, boolean]>([
  [responded(199), false],
  [responded(200), true],
  [responded(204), true],
  [responded(299), true],
  [responded(300), false],
  [responded(500), false],
  [{ kind: 'timed_out', phase: 'response' }, false],
  [{ kind: 'unreachable', reason: 'connection_reset' }, false],
  [{ kind: 'blocked' }, false],
  [{ kind: 'aborted' }, false],
])('%j is a success: %p', (outcome, success) => {
  expect(isSuccess(outcome)).toBe(success);
});
