import type { HttpAnswer } from './http-request.ts';

export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  requestId: string;
  errors?: { path: string; message: string }[];
}

/** The answer's problem+json, whose form is checked on the way (RFC 9457). */
export function problemOf(answer: HttpAnswer): Problem {
  const problem = answer.body as Problem;
  expect(answer.headers['content-type']).toMatch(/^application\/problem\+json\b/);
  expect(problem).toMatchObject({
    type: expect.any(String) as string,
    title: expect.any(String) as string,
    status: answer.status,
    detail: expect.any(String) as string,
    code: expect.stringMatching(/^[a-z_]+$/) as string,
    requestId: answer.headers['x-request-id'],
  });
  expect(problem.requestId).not.toBe('');
  return problem;
}
