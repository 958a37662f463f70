/** The smallest of 1, 2, 5, 10, 20… that is not below the value: where an axis ends. */
export function niceTop(value: number): number {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}

/** Points of a line, as an SVG path; where a value is missing the line is broken. */
export function linePath(
  values: readonly (number | undefined)[],
  toX: (index: number) => number,
  toY: (value: number) => number,
): string {
  let isDrawing = false;
  return values
    .map((value, index) => {
      if (value === undefined) {
        isDrawing = false;
        return '';
      }
      // A single point would be no line: it gets a short one.
      const command = isDrawing ? 'L' : 'M';
      const isAlone = !isDrawing && values[index + 1] === undefined;
      isDrawing = true;
      const point = `${command}${toX(index).toFixed(1)} ${toY(value).toFixed(1)}`;
      return isAlone ? `${point}h1.5` : point;
    })
    .join('');
}
