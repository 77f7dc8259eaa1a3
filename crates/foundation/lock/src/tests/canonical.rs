//! The vectors of RFC 8785, through the strict reader.

use proptest::prelude::*;
use serde_json::Value;
use wire::json::canonical;

use crate::strict::{Integers, read};

fn of(text: &str) -> String {
    let value = read(text, Integers::Digits).expect(text);
    String::from_utf8(canonical(&value)).expect("UTF-8")
}

/// Section 3.2.2 and 3.2.3: numbers, escapes, members in the order of their UTF-16 units.
#[test]
fn the_example_of_the_standard() {
    let text = r#"{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }"#;
    let expected = concat!(
        r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":""#,
        "\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"
    );
    assert_eq!(of(text), expected);
    let text = r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",
      "\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#;
    let order = ["Carriage", "One", "Control", "Latin", "Euro", "Emoji", "Hebrew"];
    let canonical = of(text);
    let places: Vec<usize> = order.iter().map(|word| canonical.find(word).expect(word)).collect();
    assert!(places.is_sorted(), "{canonical}");
}

/// Appendix B: doubles by their bits.
#[test]
fn numbers_of_appendix_b() {
    for (bits, expected) in [
        (0x0000_0000_0000_0000_u64, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ] {
        let double = f64::from_bits(bits);
        assert_eq!(String::from_utf8(canonical(&Value::from(double))).expect("UTF-8"), expected, "{bits:x}");
        // Written with an exponent, so that it is read as a double.
        assert_eq!(of(&format!("{double:e}")), expected, "{bits:x}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// The strict reader loses no bit of a double, and a canonical text is its own canonical text.
    #[test]
    fn doubles_survive(bits in any::<u64>()) {
        let double = f64::from_bits(bits);
        prop_assume!(double.is_finite());
        let text = of(&format!("{double:e}"));
        prop_assert_eq!(text.parse::<f64>().expect("a number").to_bits(), if double == 0.0 { 0 } else { bits });
    }

    #[test]
    fn canonical_texts_stay(texts in proptest::collection::vec(".{0,12}", 0..6), number in any::<f64>()) {
        let members: Vec<(String, Value)> = texts.iter().map(|text| (text.clone(), Value::from(text.as_str()))).collect();
        let value = serde_json::json!({ "o": members.into_iter().collect::<serde_json::Map<_, _>>(), "n": number });
        let once = String::from_utf8(canonical(&value)).expect("UTF-8");
        prop_assert_eq!(of(&once), once);
    }
}
