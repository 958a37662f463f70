import ts from 'typescript';

/** Replaces the characters from `start` to `end` of a file by `replacement`. */
export type Mutation = {
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
const LUA_OPERATOR = / (==|~=|<=|>=|<|>|and|or|\+|-) /g;

/** Every place where a file can be changed a little so that it says something else. A changed operator in a Lua script counts too. */
export function findMutations(path: string, text: string): Mutation[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: Mutation[] = [];
  const replace = (node: ts.Node, replacement: string) => {
    found.push({ start: node.getStart(source), end: node.getEnd(), replacement });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node)) return;
    if (ts.isBinaryExpression(node)) {
      const operator = OPERATORS[node.operatorToken.kind];
      if (operator !== undefined) replace(node.operatorToken, operator);
    } else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
      replace(node, node.operand.getText(source));
    } else if (node.kind === ts.SyntaxKind.TrueKeyword) {
      replace(node, 'false');
    } else if (node.kind === ts.SyntaxKind.FalseKeyword) {
      replace(node, 'true');
    } else if (ts.isIfStatement(node)) {
      replace(node.expression, `!(${node.expression.getText(source)})`);
    } else if (ts.isExpressionStatement(node) && isOneLine(source, node)) {
      replace(node, ';');
    } else if (ts.isTemplateExpression(node) || ts.isNoSubstitutionTemplateLiteral(node)) {
      if (text.slice(node.getFullStart(), node.getStart(source)).includes('lua'))
        found.push(...findInLua(text, node.getStart(source), node.getEnd()));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function isOneLine(source: ts.SourceFile, node: ts.Node): boolean {
  const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line;
  return lineOf(node.getStart(source)) === lineOf(node.getEnd());
}

function findInLua(text: string, from: number, to: number): Mutation[] {
  const found: Mutation[] = [];
  let start = from;
  for (const line of text.slice(from, to).split('\n')) {
    if (!/^\s*--/.test(line)) {
      for (const { index, 1: operator = '' } of line.matchAll(LUA_OPERATOR)) {
        const at = start + index + 1;
        found.push({ start: at, end: at + operator.length, replacement: LUA_OPERATORS[operator] ?? '' });
      }
      if (/^\s*redis\.call\(.*\)$/.test(line)) found.push({ start, end: start + line.length, replacement: '' });
    }
    start += line.length + 1;
  }
  return found;
}
