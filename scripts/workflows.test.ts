import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '..');
const FILES = globSync('.github/workflows/*.yml', { cwd: ROOT });
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

type Step = { uses?: string; run?: string };
type Workflow = {
  permissions?: object;
  jobs: Record<string, { 'timeout-minutes'?: number; 'runs-on'?: string; steps: Step[] }>;
};
const read = (file: string) => parse(readFileSync(join(ROOT, file), 'utf8')) as Workflow;

test('there are workflows for changes, for analysis and for releases', () => {
  expect(FILES.map((file) => file.slice('.github/workflows/'.length)).sort()).toEqual([
    'ci.yml',
    'codeql.yml',
    'release.yml',
  ]);
});

test('everything has an owner, and no owner has what is not there', () => {
  const lines = readFileSync(join(ROOT, '.github/CODEOWNERS'), 'utf8')
    .split('\n')
    .filter((line) => /^[^#]/.test(line));
  const [all, ...paths] = lines.map((line) => line.split(/ +/));
  expect(all?.[0]).toBe('*');
  expect(lines.filter((line) => !/^\S+( +@[\w-]+(\/[\w-]+)?)+$/.test(line))).toEqual([]);
  expect(paths.filter(([path = '']) => !path.startsWith('/') || !existsSync(join(ROOT, path)))).toEqual([]);
});

describe.each(FILES)('%s', (file) => {
  const { permissions, jobs } = read(file);
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  test('may read the repository, and nothing else unless a job says so', () => {
    expect(permissions).toEqual({ contents: 'read' });
  });

  test('has an end for every job', () => {
    expect(Object.entries(jobs).filter(([, job]) => !(Number(job['timeout-minutes']) <= 40))).toEqual([]);
  });

  test('runs scripts and files that are there', () => {
    const lines = steps.map(({ run = '' }) => run).join('\n');
    const named = [...lines.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
    const paths = [...lines.matchAll(/(?<![\w./-])(?:ops|packages|\.ci)\/[\w/.-]+/g)].map(([path]) => path);
    expect(paths.filter((path) => !existsSync(join(ROOT, path.replace(/\/+$/, ''))))).toEqual([]);
  });

  test('puts nothing of a stranger into a command, and names a version of each action', () => {
    expect(steps.filter(({ run = '' }) => run.includes('${{'))).toEqual([]);
    const actions = steps.flatMap(({ uses }) => uses ?? []);
    expect(actions.filter((action) => !/^[\w-]+\/[\w/-]+@(v\d+|[0-9a-f]{40})$/.test(action))).toEqual([]);
  });
});
