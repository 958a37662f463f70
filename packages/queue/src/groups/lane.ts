/** Between the parts of a lane's name, and before those of its marker. */
const SEPARATOR = '~';

/** The name of a lane: what stands in it goes at most so many times a second. See LANE_LUA. */
export function laneOf(group: string, perSecond: number, name: string): string {
  return [group, perSecond, name].join(SEPARATOR);
}

/** The group to which a lane belongs; any other name is the group's own. */
export function groupOfLane(name: string): string {
  return name.split(SEPARATOR, 1)[0] ?? '';
}
