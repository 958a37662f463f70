import ts from 'typescript';

/**
 * What goes wrong. `logic`: an operator, a condition, a constant. `statement`: one is left out. `await`: what must be
 * waited for is not. `expiry`: a key or an entry lives for ever. `clear`: a timer, a listener or an entry stays.
 * `renewal`: what must be done again and again is done once. `keys`: a script takes one of its keys for another. `reply`:
 * a reply is not looked at.
 */
export const KINDS = ['logic', 'statement', 'await', 'expiry', 'clear', 'renewal', 'keys', 'reply'] as const;
export type MutationKind = (typeof KINDS)[number];

/** Replaces the characters from `start` to `end` of a file by `replacement`. */
export type Mutation = {
  readonly kind: MutationKind;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
};

const OPERATORS: Readonly<Partial<Record<ts.SyntaxKind, string>>> = {
  [ts.SyntaxKind.EqualsEqualsEqualsToken]: '!==',
  [ts.SyntaxKind.ExclamationEqualsEqualsToken]: '===',
  [ts.SyntaxKind.LessThanToken]: '<=',
  [ts.SyntaxKind.LessThanEqualsToken]: '<',
  [ts.SyntaxKind.GreaterThanToken]: '>=',
  [ts.SyntaxKind.GreaterThanEqualsToken]: '>',
  [ts.SyntaxKind.AmpersandAmpersandToken]: '||',
  [ts.SyntaxKind.BarBarToken]: '&&',
  [ts.SyntaxKind.PlusToken]: '-',
  [ts.SyntaxKind.MinusToken]: '+',
};

const LUA_OPERATORS: Readonly<Record<string, string>> = {
  '==': '~=',
  '~=': '==',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  and: 'or',
  or: 'and',
  '+': '-',
  '-': '+',
};
/** Methods and functions that end something, and those that prolong it. */
const CLEARS =
  /^(clear(Timeout|Interval|Immediate)?|delete|off|remove\w*|disconnect|close|release|abort|unref|destroy|end)$/;
const RENEWALS = /^(renew\w*|extend\w*|refresh\w*|show|beat|touch|schedule\w*|arm)$/;
const EXPIRIES = /^p?expire(at)?$/;
const LUA_EXPIRY = /redis\.call\('P?EXPIRE(?:AT)?',[^\n]*?\)(?=\s*(?:end\b|$))|, '[PE]X', [^,)]+/g;
const LUA_OPERATOR = / (==|~=|<=|>=|<|>|and|or|\+|-) /g;

/** Every place where a file can be changed a little so that it says something else. A changed operator in a Lua script counts too. */
export function findMutations(path: string, text: string): Mutation[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: Mutation[] = [];
  const replace = (kind: MutationKind, node: ts.Node, replacement: string) => {
    found.push({ kind, start: node.getStart(source), end: node.getEnd(), replacement });
  };
  const textOf = (node: ts.Node) => node.getText(source);
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node)) return;
    if (ts.isBinaryExpression(node)) {
      const operator = OPERATORS[node.operatorToken.kind];
      if (operator !== undefined) replace('logic', node.operatorToken, operator);
      const isAnswer = ts.isStringLiteral(node.right) && isAwaited(node.left);
      if (isAnswer) replace('reply', node, `(${textOf(node.left)}, true)`);
    } else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
      replace('logic', node, textOf(node.operand));
    } else if (node.kind === ts.SyntaxKind.TrueKeyword) {
      replace('logic', node, 'false');
    } else if (node.kind === ts.SyntaxKind.FalseKeyword) {
      replace('logic', node, 'true');
    } else if (ts.isIfStatement(node)) {
      replace('logic', node.expression, `!(${textOf(node.expression)})`);
      if (!node.elseStatement && /\.kind\b|\breply\b|[=!]== '/.test(textOf(node.expression)))
        replace('reply', node, ';');
    } else if (ts.isExpressionStatement(node)) {
      const { expression } = node;
      if (ts.isAwaitExpression(expression)) replace('await', node, `void ${textOf(expression.expression)};`);
      if (isOneLine(source, node)) replace(kindOf(expression), node, ';');
    } else if (ts.isAwaitExpression(node)) {
      // Mostly the compiler sees it.
      if (!ts.isExpressionStatement(node.parent) && !isReturned(node)) replace('await', node, textOf(node.expression));
    } else if (ts.isCallExpression(node)) {
      found.push(...findInCall(source, node));
    } else if (ts.isTemplateExpression(node) || ts.isNoSubstitutionTemplateLiteral(node)) {
      if (text.slice(node.getFullStart(), node.getStart(source)).includes('lua'))
        found.push(...findInLua(text, node.getStart(source), node.getEnd()));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Whether who called waits for it all the same: nothing of the function comes after it. */
function isReturned(node: ts.AwaitExpression): boolean {
  const { parent } = node;
  if (ts.isArrowFunction(parent)) return true;
  if (!ts.isReturnStatement(parent)) return false;
  for (let outer: ts.Node = parent; !ts.isFunctionLike(outer) && !ts.isSourceFile(outer); outer = outer.parent) {
    if (ts.isTryStatement(outer)) return false;
    if (ts.isBlock(outer) && outer.statements.some(isUsing)) return false;
  }
  return true;
}

/** Whether it releases something at the end of its block. */
function isUsing(statement: ts.Statement): boolean {
  return ts.isVariableStatement(statement) && /^(await )?using\b/.test(statement.getText());
}

function isAwaited(node: ts.Expression): boolean {
  return ts.isParenthesizedExpression(node) ? isAwaited(node.expression) : ts.isAwaitExpression(node);
}

/** The name of what is called. */
function nameOf(node: ts.Expression): string {
  const call = ts.isAwaitExpression(node) || ts.isVoidExpression(node) ? node.expression : node;
  if (!ts.isCallExpression(call)) return '';
  const { expression } = call;
  if (ts.isPropertyAccessExpression(expression)) return expression.name.text;
  return ts.isIdentifier(expression) ? expression.text : '';
}

/** What goes wrong without a statement. */
function kindOf(expression: ts.Expression): MutationKind {
  const name = nameOf(expression);
  if (EXPIRIES.test(name)) return 'expiry';
  if (CLEARS.test(name)) return 'clear';
  return RENEWALS.test(name) ? 'renewal' : 'statement';
}

function findInCall(source: ts.SourceFile, node: ts.CallExpression): Mutation[] {
  const name = nameOf(node);
  const { expression, arguments: given } = node;
  if (name === 'setInterval' && ts.isIdentifier(expression)) {
    return [
      { kind: 'renewal', start: expression.getStart(source), end: expression.getEnd(), replacement: 'setTimeout' },
    ];
  }
  const isChained = ts.isPropertyAccessExpression(expression) && ts.isCallExpression(expression.expression);
  const isLeftOut = name === 'finally' || name === 'unref' || EXPIRIES.test(name);
  if (isChained && isLeftOut) {
    const kind = EXPIRIES.test(name) ? 'expiry' : 'clear';
    return [{ kind, start: expression.expression.getEnd(), end: node.getEnd(), replacement: '' }];
  }
  const at = given.findIndex((each) => ts.isStringLiteral(each) && /^[PE]X$/.test(each.text));
  const [before, last] = [given[at - 1], given[at + 1]];
  if (at < 1 || !before || !last) return [];
  return [{ kind: 'expiry', start: before.getEnd(), end: last.getEnd(), replacement: '' }];
}

function isOneLine(source: ts.SourceFile, node: ts.Node): boolean {
  const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line;
  return lineOf(node.getStart(source)) === lineOf(node.getEnd());
}

function findInLua(text: string, from: number, to: number): Mutation[] {
  const found: Mutation[] = [];
  const keys = new Set(text.slice(from, to).match(/\bKEYS\[\d\]/g));
  let start = from;
  for (const line of text.slice(from, to).split('\n')) {
    const change = (kind: MutationKind, index: number, length: number, replacement: string) => {
      found.push({ kind, start: start + index, end: start + index + length, replacement });
    };
    if (!/^\s*--/.test(line)) {
      for (const { index, 1: operator = '' } of line.matchAll(LUA_OPERATOR)) {
        change('logic', index + 1, operator.length, LUA_OPERATORS[operator] ?? '');
      }
      for (const { index, 0: expiry } of line.matchAll(LUA_EXPIRY)) {
        change('expiry', index, expiry.length, expiry.startsWith(',') ? '' : 'do end');
      }
      const isCall = /^\s*redis\.call\(.*\)$/.test(line);
      if (isCall && !line.includes('EXPIRE')) change('statement', 0, line.length, '');
      for (const { index, 0: key } of line.matchAll(/\bKEYS\[\d\]/g)) {
        const other = [...keys].find((each) => each !== key);
        if (other !== undefined) change('keys', index, key.length, other);
      }
      // What a command answered is taken for nothing, or for the opposite.
      for (const { index, 0: asked } of line.matchAll(/if redis\.call\([^\n]*?\) [=~]= \S+ then/g)) {
        change('reply', index, asked.length, 'if false then');
      }
    }
    start += line.length + 1;
  }
  return found;
}
