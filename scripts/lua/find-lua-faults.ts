import { parse, type Node } from 'luaparse';

/** A whole script as Redis gets it. */
export type AssembledScript = { readonly name: string; readonly lua: string };

/** What Redis gives a script. */
const GLOBALS = new Set([
  ...['KEYS', 'ARGV', 'redis', 'cjson', 'cmsgpack', 'bit', 'struct', 'math', 'string', 'table'],
  ...['assert', 'error', 'ipairs', 'next', 'pairs', 'pcall', 'select', 'tonumber', 'tostring', 'type', 'unpack'],
]);

type Local = { readonly name: string; readonly line: number; isRead: boolean; readonly isOfChunk: boolean };
type Scope = { readonly names: Map<string, Local>; readonly above?: Scope };
type Facts = { readonly unknown: { readonly name: string; readonly line: number }[]; readonly locals: Local[] };

/**
 * What is wrong with scripts: a text that is no Lua, a global that Redis doesn't have, a local that nothing reads. What
 * several scripts share may be read in one of them alone. A local named `_` is meant to be unread.
 */
export function findLuaFaults(scripts: readonly AssembledScript[]): string[] {
  const faults: string[] = [];
  /** Of locals of whole scripts, by the lines that declare them: whether some script reads it, and where it stands. */
  const shared = new Map<string, { isRead: boolean; readonly fault: string }>();
  for (const { name, lua } of scripts) {
    const lines = lua.replace(/^#!.*/, '').split('\n');
    const at = (line: number) => `${name}, line ${line}: ${lines[line - 1]?.trim() ?? ''}`;
    let facts: Facts;
    try {
      facts = readFacts(lines.join('\n'));
    } catch (thrown) {
      const { line = 1, message = '' } = thrown as { line?: number; message?: string };
      faults.push(`no Lua (${message}): ${at(line)}`);
      continue;
    }
    for (const { name: global, line } of facts.unknown) faults.push(`nothing declares ${global}: ${at(line)}`);
    for (const { name: local, line, isRead, isOfChunk } of facts.locals) {
      if (local === '_') continue;
      const fault = `nothing reads ${local}: ${at(line)}`;
      if (!isOfChunk) {
        if (!isRead) faults.push(fault);
        continue;
      }
      const key = `${local} ${lines[line - 1] ?? ''}`;
      const known = shared.get(key) ?? { isRead: false, fault };
      known.isRead ||= isRead;
      shared.set(key, known);
    }
  }
  faults.push(...[...shared.values()].filter(({ isRead }) => !isRead).map(({ fault }) => fault));
  // What scripts share is told once.
  return [...new Map(faults.map((fault) => [fault.replace(/: [^:]+, line \d+:/, ':'), fault])).values()];
}

function readFacts(lua: string): Facts {
  const chunk = parse(lua, { luaVersion: '5.1', locations: true, comments: false });
  const facts: Facts = { unknown: [], locals: [] };
  walkBlock(chunk.body, { names: new Map() }, facts);
  return facts;
}

function declare(scope: Scope, node: Node, facts: Facts): void {
  if (node.type !== 'Identifier') return;
  const local = { name: node.name, line: lineOf(node), isRead: false, isOfChunk: scope.above === undefined };
  scope.names.set(node.name, local);
  facts.locals.push(local);
}

const lineOf = (node: Node) => node.loc?.start.line ?? 1;

function read(scope: Scope, node: Extract<Node, { type: 'Identifier' }>, facts: Facts, isWrite = false): void {
  for (let at: Scope | undefined = scope; at; at = at.above) {
    const local = at.names.get(node.name);
    if (!local) continue;
    local.isRead ||= !isWrite;
    return;
  }
  if (isWrite || !GLOBALS.has(node.name)) facts.unknown.push({ name: node.name, line: lineOf(node) });
}

function walkBlock(body: readonly Node[], scope: Scope, facts: Facts): void {
  for (const statement of body) walk(statement, scope, facts);
}

const within = (above: Scope): Scope => ({ names: new Map(), above });

/** Statements and expressions that declare something, or are read in another order than they are written in. */
function walk(node: Node, scope: Scope, facts: Facts): void {
  if (node.type === 'Identifier') {
    read(scope, node, facts);
  } else if (node.type === 'LocalStatement') {
    walkBlock(node.init, scope, facts);
    for (const variable of node.variables) declare(scope, variable, facts);
  } else if (node.type === 'AssignmentStatement') {
    walkBlock(node.init, scope, facts);
    for (const target of node.variables) {
      if (target.type === 'Identifier') read(scope, target, facts, true);
      else walk(target, scope, facts);
    }
  } else if (node.type === 'FunctionDeclaration') {
    if (node.identifier && node.isLocal) declare(scope, node.identifier, facts);
    else if (node.identifier?.type === 'Identifier') read(scope, node.identifier, facts, true);
    walkBody(node.parameters, node.body, scope, facts);
  } else if (node.type === 'ForNumericStatement') {
    walkBlock([node.start, node.end, ...(node.step ? [node.step] : [])], scope, facts);
    walkBody([node.variable], node.body, scope, facts);
  } else if (node.type === 'ForGenericStatement') {
    walkBlock(node.iterators, scope, facts);
    walkBody(node.variables, node.body, scope, facts);
  } else if (node.type === 'RepeatStatement') {
    // The condition sees what the body declares.
    walkBody([], [...node.body, node.condition], scope, facts);
  } else if (node.type === 'MemberExpression') {
    walk(node.base, scope, facts);
  } else if (node.type === 'TableKeyString') {
    walk(node.value, scope, facts);
  } else {
    walkParts(node, scope, facts);
  }
}

/** A block that sees what is declared for it. */
function walkBody(declared: readonly Node[], body: readonly Node[], above: Scope, facts: Facts): void {
  const scope = within(above);
  for (const variable of declared) declare(scope, variable, facts);
  walkBlock(body, scope, facts);
}

/** Each block of a statement has a scope of its own. */
function walkParts(node: Node, scope: Scope, facts: Facts): void {
  for (const [name, part] of Object.entries(node) as [string, unknown][]) {
    if (Array.isArray(part)) walkBlock(part as Node[], name === 'body' ? within(scope) : scope, facts);
    else if (isNode(part)) walk(part, scope, facts);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}
