import { findExecutable } from '@herald/test-kit';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

const { services } = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Record<string, { stop_grace_period?: string }>;
};

test.each(['api', 'worker'])('the unit of the %s starts what the build makes, and lets it end in order', (name) => {
  const unit = read(`ops/systemd/herald-${name}.service`);
  const settings = new Map([...unit.matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]));
  expect(settings.get('ExecStart')).toBe(`/opt/herald/node_modules/.bin/node apps/${name}/dist/main.js`);
  expect(existsSync(join(ROOT, `apps/${name}/src/main.ts`))).toBe(true);
  expect(settings.get('TimeoutStopSec')).toMatch(/^\d+$/);
  expect(services[name]?.stop_grace_period).toBe(`${settings.get('TimeoutStopSec') ?? ''}s`);
  // What ends it may last longer than systemd tries by default.
  expect([settings.get('Restart'), settings.get('StartLimitIntervalSec')]).toEqual(['always', '0']);
  expect(read('docs/operating.md')).toContain(String(settings.get('EnvironmentFile')));
});

const analyze = findExecutable('systemd-analyze');
const describeWithSystemd = analyze === undefined ? describe.skip : describe;

describeWithSystemd('with systemd-analyze', () => {
  test.each(['api', 'worker'])('nothing is wrong with the unit of the %s', (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'herald-units-'));
    try {
      // It looks for the program, which isn't installed here.
      const unit = read(`ops/systemd/herald-${name}.service`).replace(/(?<=^ExecStart=)\S+/m, process.execPath);
      const file = join(folder, `herald-${name}.service`);
      writeFileSync(file, unit);
      const { status, stderr } = spawnSync(analyze ?? '', ['verify', file], { encoding: 'utf8' });
      // Of units of the machine it says what it likes.
      expect({ status, said: stderr.split('\n').filter((line) => line.includes('herald')) }).toEqual({
        status: 0,
        said: [],
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
