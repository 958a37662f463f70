import { judgeOrigin, type RequestOrigin } from './guard-operators.ts';

const OWN = 'https://herald.example.com';
type Case = Partial<RequestOrigin> & { readonly when: string; readonly problem?: RegExp };

test.each<Case>([
  { when: 'the pages themselves', fetchSite: 'same-origin', origin: OWN },
  {
    when: 'the pages themselves, behind a proxy that changes the host',
    fetchSite: 'same-origin',
    origin: 'http://api:8080',
  },
  { when: 'another site', fetchSite: 'cross-site', origin: 'https://evil.example', problem: /only the operator pages/ },
  { when: 'a neighbour under one domain', fetchSite: 'same-site', origin: 'https://blog.example.com', problem: /only/ },
  { when: 'another site that claims our origin', fetchSite: 'cross-site', origin: OWN, problem: /only/ },
  { when: 'an address that was typed', fetchSite: 'none', problem: /only/ },
  { when: 'an older browser on our pages', origin: OWN },
  {
    when: 'an older browser on another site',
    origin: 'https://evil.example',
    problem: /another origin than https:\/\/herald/,
  },
  { when: 'our host on another port', origin: `${OWN}:8443`, problem: /another origin/ },
  { when: 'our host without TLS', origin: 'http://herald.example.com', problem: /another origin/ },
  { when: 'our host as the beginning of another', origin: `${OWN}.evil.example`, problem: /another origin/ },
  { when: 'a page without an origin', origin: 'null', problem: /another origin/ },
  { when: 'a program that says nothing', problem: /send the header Origin: https:\/\/herald\.example\.com;/ },
])('a change from $when: $problem', ({ when: _when, problem, ...request }) => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const found = judgeOrigin({ method, fetchSite: undefined, origin: undefined, ownOrigin: OWN, ...request });
    expect(found ?? 'none').toMatch(problem ?? /^none$/);
  }
});

test.each(['GET', 'HEAD', 'OPTIONS'])('%s changes nothing, and may come from anywhere', (method) => {
  const request = { method, fetchSite: 'cross-site', origin: 'https://evil.example', ownOrigin: OWN };
  expect(judgeOrigin(request)).toBeUndefined();
});
