import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';

// Makes of the kits the files that the API serves under /kit: for those who receive, and have no repository. The same
// content gives the same bytes.

const PACKAGES = import.meta.dirname;
const README = readFileSync(join(PACKAGES, 'receiver/README.md'), 'utf8');
const EXAMPLE = /<!-- example: (\S+) -->\n+```\w*\n([\s\S]*?)\n```/g;
/** A link that leads out of a package leads nowhere in its file. */
const OUTWARD = /\[([^\]]+)\]\((?:\.\.\/[^)]*)\)/g;

/** The files of the kits, with their names. The examples are what the page about receiving shows. */
export function makeKit() {
  return [makeNodeKit(), makePythonKit(), { name: 'examples.json', content: JSON.stringify(readExamples()) }];
}

function readExamples() {
  const pages = [README, readFileSync(join(PACKAGES, 'receiver-python/README.md'), 'utf8')];
  return Object.fromEntries(pages.flatMap((page) => [...page.matchAll(EXAMPLE)].map(([, name, code]) => [name, code])));
}

/** As `npm pack` makes it: what its `files` name. */
function makeNodeKit() {
  const folder = join(PACKAGES, 'receiver');
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const isPacked = (name) =>
    /^(bin|dist|cjs|src)\/|^(package\.json|README\.md|LICENSE|vectors\.json)$/.test(name) &&
    !/\.tsbuildinfo$|^src\/.*\.test\.ts$/.test(name);
  const files = listFiles(folder)
    .filter(isPacked)
    .map((name) => ({ name, content: readPacked(folder, name), isProgram: name.startsWith('bin/') }));
  return { name: `herald-receiver-${version}.tgz`, content: gzipSync(makeTar(files), { level: 9 }) };
}

function readPacked(folder, name) {
  if (name !== 'README.md') return readFileSync(join(folder, name));
  return Buffer.from(readFileSync(join(folder, name), 'utf8').replaceAll(OUTWARD, '$1'));
}

function listFiles(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

/** The format ustar, each file below `package/`, as npm has it. */
function makeTar(files) {
  const blocks = files.flatMap(({ name, content, isProgram }) => {
    const header = Buffer.alloc(512);
    header.write(`package/${name}`, 0, 100);
    header.write(isProgram ? '0000755\0' : '0000644\0', 100);
    header.write('0000000\0'.repeat(2), 108);
    header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
    // A day of 1985, which npm writes too.
    header.write('03560116604\0', 136);
    header.write('        0', 148);
    header.write('ustar\x0000', 257);
    const sum = header.reduce((all, byte) => all + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

/** A wheel: the modules, and what a tool that installs them wants to know (PEP 427). */
function makePythonKit() {
  const folder = join(PACKAGES, 'receiver-python');
  const project = readFileSync(join(folder, 'pyproject.toml'), 'utf8');
  const find = (name) => new RegExp(`^${name} = "(.*)"$`, 'm').exec(project)?.[1];
  // 0.3.0-dev is 0.3.0.dev0 there (PEP 440).
  const version = find('version').replace(/-dev$/, '.dev0');
  const info = `herald_receiver-${version}.dist-info`;
  const extras = [...project.matchAll(/^(\w+) = \["(.+)"\]$/gm)].filter(([, , needs]) => /[<>=]/.test(needs));
  const metadata = [
    'Metadata-Version: 2.1',
    'Name: herald-receiver',
    `Version: ${version}`,
    `Summary: ${find('description')}`,
    'License: MIT',
    `Requires-Python: ${find('requires-python')}`,
    'Description-Content-Type: text/markdown',
    ...extras
      .filter(([, name]) => name !== 'requires')
      .flatMap(([, name, needs]) => [`Provides-Extra: ${name}`, `Requires-Dist: ${needs}; extra == "${name}"`]),
    '',
    readPacked(folder, 'README.md').toString(),
  ].join('\n');
  const files = [
    ...listFiles(join(folder, 'herald_receiver'))
      .filter((name) => /\.py$|^py\.typed$/.test(name))
      .map((name) => ({
        name: `herald_receiver/${name}`,
        content: readFileSync(join(folder, 'herald_receiver', name)),
      })),
    { name: `${info}/LICENSE`, content: readFileSync(join(folder, 'LICENSE')) },
    { name: `${info}/METADATA`, content: Buffer.from(metadata) },
    {
      name: `${info}/WHEEL`,
      content: Buffer.from('Wheel-Version: 1.0\nGenerator: herald\nRoot-Is-Purelib: true\nTag: py3-none-any\n'),
    },
  ];
  const rows = files.map(({ name, content }) => {
    const digest = createHash('sha256').update(content).digest('base64url');
    return `${name},sha256=${digest},${content.length}\n`;
  });
  files.push({ name: `${info}/RECORD`, content: Buffer.from(`${rows.join('')}${info}/RECORD,,\n`) });
  return { name: `herald_receiver-${version}-py3-none-any.whl`, content: makeZip(files) };
}

function makeZip(files) {
  const [parts, directory, count] = [[], [], files.length];
  let offset = 0;
  for (const { name, content } of files) {
    const packed = deflateRawSync(content, { level: 9 });
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(8, 4);
    // 1980-01-01, the first day that a zip knows.
    facts.writeUInt16LE(0x21, 8);
    facts.writeUInt32LE(crc32(content), 10);
    facts.writeUInt32LE(packed.length, 14);
    facts.writeUInt32LE(content.length, 18);
    facts.writeUInt16LE(Buffer.byteLength(name), 22);
    const entry = Buffer.alloc(46);
    entry.write('PK\x01\x02', 'latin1');
    entry.writeUInt16LE(0x0314, 4);
    facts.copy(entry, 6);
    entry.writeUInt32LE((0o100644 << 16) >>> 0, 38);
    entry.writeUInt32LE(offset, 42);
    directory.push(entry, Buffer.from(name));
    const file = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), facts, Buffer.from(name), packed]);
    parts.push(file);
    offset += file.length;
  }
  const index = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(index.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, index, end]);
}
