import base64
import time
import unittest

from herald_receiver import Genuine, Refused, sign, verify_delivery
from herald_receiver.signatures import is_fresh, is_signed_by_service, is_signed_by_standard, read_header

from .samples import BODY, NO_EVENTS, OTHER, SECRET, VECTORS

NOW = 1_700_000_000


class Vectors(unittest.TestCase):
    def test_every_vector_has_its_verdict(self):
        self.assertGreaterEqual(len(VECTORS), 29)
        for vector in VECTORS:
            with self.subTest(vector["name"]):
                body, headers = base64.b64decode(vector["body_base64"]), vector["headers"]
                service = is_signed_by_service(body, headers, vector["secrets"])
                standard = is_signed_by_standard(body, headers, vector["secrets"])
                standard = standard and is_fresh(headers, 300, vector["now"])
                self.assertEqual((service, standard), (vector["service_valid"], vector["standard_valid"]))

    def test_what_verify_delivery_lets_through_is_what_both_signatures_hold_for(self):
        genuine = []
        for vector in VECTORS:
            if "" in vector["secrets"]:
                continue  # raises
            body = base64.b64decode(vector["body_base64"])
            verified = verify_delivery(vector["headers"], body, vector["secrets"], now=vector["now"])
            holds = vector["service_valid"] and vector["standard_valid"]
            is_signed = isinstance(verified, Genuine) or verified.reason == "event_format"
            self.assertEqual(is_signed, holds, vector["name"])
            if isinstance(verified, Genuine):
                genuine.append(verified.event["event"])
        self.assertIn("task.done", genuine)


class VerifyDelivery(unittest.TestCase):
    def verify(self, change=None, body=BODY, **options):
        headers = {**sign(BODY, SECRET, id="dlv_1", now=NOW), **(change or {})}
        headers = {name: value for name, value in headers.items() if value is not None}
        return verify_delivery(headers, body, SECRET, **{"now": NOW, **options})

    def test_what_sign_makes_is_genuine_however_the_headers_come(self):
        headers = sign(BODY, SECRET, id="dlv_1", now=NOW)
        forms = [
            headers,
            {name.title(): value for name, value in headers.items()},
            {name: [value] for name, value in headers.items()},
            [(name.encode(), value.encode()) for name, value in headers.items()],
        ]
        for form in forms:
            verified = verify_delivery(form, BODY, [OTHER, SECRET], now=NOW)
            self.assertEqual((verified.id, verified.event["event"]), ("dlv_1", "webhook.test"))
        self.assertEqual(headers["x-service-event"], "webhook.test")

    def test_each_refusal_has_its_reason(self):
        for reason, change in [
            ("service_signature_missing", {"x-service-signature": None}),
            ("service_signature_wrong", {"x-service-signature": "sha256=" + "0" * 64}),
            ("service_signature_wrong", {"x-service-signature": "é" * 71}),
            ("standard_headers_missing", {"webhook-id": None}),
            ("standard_headers_missing", {"webhook-timestamp": None}),
            ("standard_headers_missing", {"webhook-signature": None}),
            ("standard_headers_missing", {"webhook-signature": ["v1,a", "v1,b"]}),
            ("standard_headers_malformed", {"webhook-timestamp": f"{NOW}\n"}),
            ("standard_headers_malformed", {"webhook-timestamp": "٣"}),
            ("standard_headers_malformed", {"webhook-id": "dlv.1"}),
            ("standard_signature_wrong", {"webhook-signature": "v1,AA=="}),
            ("standard_signature_wrong", {"webhook-timestamp": str(NOW + 1)}),
            ("timestamp_out_of_tolerance", {"webhook-timestamp": str(NOW - 301)}),
            ("delivery_ids_differ", {"x-service-delivery": "dlv_2"}),
        ]:
            with self.subTest(reason, change=change):
                refused = self.verify(change)
                self.assertIsInstance(refused, Refused)
                self.assertEqual((refused.reason, refused.status), (reason, 401))
                self.assertGreater(len(refused.detail), 20)

    def test_a_header_that_came_twice_is_none(self):
        twice = [("X-A", "1"), ("x-a", "1")]
        self.assertIsNone(read_header(twice, "x-a"))
        self.assertEqual(read_header(twice[:1], "x-a"), "1")

    def test_a_signed_body_that_is_no_event_is_400_and_never_genuine(self):
        for body in NO_EVENTS:
            refused = verify_delivery(sign(body, SECRET), body, SECRET)
            self.assertEqual((refused.reason, refused.status), ("event_format", 400), body[:40])
        for parsed in ({"event": "task.done"}, None, 1):
            self.assertEqual(self.verify(body=parsed).reason, "body_not_raw")

    def test_one_signature_alone_where_it_is_asked_for(self):
        plain = {"webhook-id": None, "webhook-signature": None}
        self.assertEqual(self.verify(plain, signatures="service").id, "dlv_1")
        self.assertEqual(self.verify({"x-service-signature": None}, signatures="standard").id, "dlv_1")
        self.assertEqual(self.verify({"x-service-delivery": ""}, signatures="service").reason, "delivery_id_missing")
        with self.assertRaisesRegex(ValueError, "one of both, standard, service"):
            self.verify(signatures="none")

    def test_a_secret_that_is_not_whole_is_named_and_not_shown(self):
        for secret in ["", " ", "whsec_", "changeme", f"{SECRET[:20]}\n{SECRET[20:]}", SECRET[6:], None, 5]:
            for given in (secret if isinstance(secret, str) else [secret], [SECRET, secret]):
                with self.assertRaisesRegex(ValueError, r"secrets\[\d\] is ") as raised:
                    verify_delivery(sign(BODY, SECRET), BODY, given)
                self.assertNotIn(SECRET[6:20], str(raised.exception))

    def test_sign_says_what_it_can_not_sign(self):
        for options in [{"id": "a.b"}, {"id": ""}, {"now": -1}]:
            with self.assertRaises(ValueError):
                sign(BODY, SECRET, **options)
        self.assertLess(abs(int(sign(BODY, SECRET)["webhook-timestamp"]) - time.time()), 5)


if __name__ == "__main__":
    unittest.main()
