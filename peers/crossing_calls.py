"""The calls that the Python clients of `cargo xtask gateway-clients` make: every kind of content, errors, and questions."""

CALLS = [
    ("echo", {"message": "Grüße, 世界, 😀"}),
    ("sum", {"a": 2, "b": 3.5}),
    ("sum", {"a": "x"}),
    ("none", {}),
    ("fail", {}),
    ("get_image", {}),
    ("get_audio", {}),
    ("get_resource_link", {}),
    ("get_embedded_resource", {}),
    ("get_everything", {}),
    ("get_weather", {"location": "Bergen"}),
    ("ask", {}),
    ("ask_form", {}),
    ("ask_two", {}),
    ("ask_in_turn", {}),
    ("ask_url", {}),
    ("sample", {}),
    ("list_roots", {}),
]
