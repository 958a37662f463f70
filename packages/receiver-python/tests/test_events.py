import json
import unittest

from herald_receiver import EventFormatError, is_sample, parse_event

from .samples import BODY, CHECK_IN, DONE, REQUIRES_ACTION, text


class ParseEvent(unittest.TestCase):
    def test_every_event_is_read_whole(self):
        for event in (DONE, CHECK_IN, REQUIRES_ACTION, {**DONE, "event": "task.canceled"}, json.loads(BODY)):
            self.assertEqual(parse_event(text(event)), event)

    def test_fields_and_statuses_of_a_later_herald_are_passed_on(self):
        later = {**DONE, "cost": {"cents": 3}, "task": {"id": "task_1", "status": "archived", "owner": "me"}}
        self.assertEqual(parse_event(text(later)), later)

    def test_an_event_of_a_later_herald_comes_back_as_unknown(self):
        for name in ("task.paused", "unknown", "__class__"):
            body = {"id": "trn_1", "event": name}
            self.assertEqual(parse_event(text(body)), {"event": "unknown", "id": "trn_1", "name": name, "body": body})

    def test_what_is_wrong_is_said_with_its_path(self):
        for path, body in [
            ("", b"nonsense"),
            ("", b"[]"),
            ("", b"\xff"),
            ("", b'{"event":NaN}'),
            ("event", b'{"id":"trn_1"}'),
            ("id", b'{"event":"task.paused"}'),
            ("task", text({**DONE, "task": None})),
            ("task.id", text({**DONE, "task": {"status": "done"}})),
            ("sequence", text({**DONE, "sequence": "4"})),
            ("sequence", text({**DONE, "sequence": True})),
            ("sequence", text({**DONE, "sequence": 4.5})),
            ("sequence", b'{"sequence":1e999,' + text(DONE).replace(b'"sequence": 3', b'"x": 3')[1:]),
            ("outcome.progress", text({**CHECK_IN, "outcome": {"summary": "", "progress": "half"}})),
            ("decision_items[0].label", text({**REQUIRES_ACTION, "decision_items": [{"id": "c"}]})),
            ("api_resolvable", text({**REQUIRES_ACTION, "api_resolvable": 1})),
        ]:
            with self.subTest(path, body=body[:60]):
                with self.assertRaises(EventFormatError) as raised:
                    parse_event(body)
                self.assertEqual(raised.exception.path, path)

    def test_a_sample_is_known_by_its_task(self):
        sample = {**DONE, "task": {"id": "task_sample01", "status": "done"}}
        self.assertTrue(is_sample(parse_event(text(sample))))
        unknown = {"id": "trn_1", "event": "task.paused", "task": {"id": "task_sample01"}}
        for event in (DONE, json.loads(BODY), unknown):
            self.assertFalse(is_sample(parse_event(text(event))))


if __name__ == "__main__":
    unittest.main()
