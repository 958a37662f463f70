import type { Build } from './builds.ts';
import type { Compared } from './beside-table.ts';
import type { TargetName } from './targets.ts';

/** What was measured of one build, one value a round. */
export type BuildRounds<T> = {
  readonly build: Build;
  readonly rounds: readonly T[];
  /** A row's name, with the build's when there are two. */
  readonly title: (row: string) => string;
};

/** Measurements of builds that take turns: what the machine does to one of them it does to the other. */
export type Turns<T> = {
  /** One round: every build once. The order turns round each time, so that no build is always the second. */
  readonly take: (measure: (build: Build) => Promise<T>) => Promise<void>;
  /** This build first. */
  readonly all: readonly BuildRounds<T>[];
  /** This build's rounds. */
  readonly own: readonly T[];
  /** One row of the comparison with the build beside; none when there is none. */
  readonly compare: (row: string, read: (round: T) => number, target?: TargetName) => readonly Compared[];
};

/**
 * @param builds this one, and perhaps the one beside it
 * @param roundsBefore of the same scenario, when each thing that it measures has turns of its own
 */
export function createTurns<T>(builds: readonly Build[], roundsBefore = 0): Turns<T> {
  const all = builds.map((build) => ({
    build,
    rounds: [] as T[],
    title: (row: string) => (builds.length === 1 ? row : `${row}, ${build.name}`),
  }));
  const [own, beside] = all;
  if (!own) throw new Error('there is a build to measure');
  let taken = roundsBefore;
  return {
    async take(measure) {
      const order = taken++ % 2 === 0 ? all : all.toReversed();
      for (const { build, rounds } of order) rounds.push(await measure(build));
    },
    all,
    own: own.rounds,
    compare(row, read, target) {
      if (!beside) return [];
      const rounds = own.rounds.map((round, index) => {
        const other = beside.rounds[index];
        return { measured: read(round), floor: other === undefined ? NaN : read(other) };
      });
      return [{ row, rounds, target }];
    },
  };
}
