"""A misspelt setting stops the start, because it would otherwise be ignored."""

import pytest

from gateway.settings import Settings, SettingsFault, from_environment


def test_without_variables_the_defaults_hold() -> None:
    assert from_environment({"PATH": "x"}) == Settings()


def test_every_field_has_its_variable() -> None:
    settings = from_environment(
        {
            "GATEWAY_REGISTRY": "r",
            "GATEWAY_POLICIES": "p",
            "GATEWAY_DATA": "d",
            "GATEWAY_VOCABULARIES": "v",
            "GATEWAY_LISTEN": "[::1]:0",
            "GATEWAY_MAX_BODY_BYTES": "4096",
            "GATEWAY_BODY_WITHIN_S": "2",
            "GATEWAY_DRAIN_S": "1.5",
            "GATEWAY_LOG_LEVEL": "debug",
        }
    )
    assert settings == Settings(
        registry="r",
        policies="p",
        data="d",
        vocabularies="v",
        listen="[::1]:0",
        max_body_bytes=4096,
        body_within_s=2.0,
        drain_s=1.5,
        log_level="debug",
    )
    assert settings.address == ("::1", 0)


def test_aut_10_an_unknown_variable_is_refused_and_the_nearest_is_named() -> None:
    with pytest.raises(SettingsFault, match="GATEWAY_LISTEN") as fault:
        from_environment({"GATEWAY_LISTN": "CANARY"})
    assert "CANARY" not in str(fault.value)


@pytest.mark.parametrize("name", ["GATEWAY_PORT", "GATEWAY_PORT_8080_TCP", "GATEWAY_SERVICE_HOST"])
def test_what_kubernetes_injects_is_ignored(name: str) -> None:
    assert from_environment({name: "tcp://10.0.0.1:80"}) == Settings()


def test_secrets_are_no_settings() -> None:
    assert from_environment({"GATEWAY_SECRET_OPENAI": "x"}) == Settings()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GATEWAY_LISTEN", "8080"),
        ("GATEWAY_LISTEN", "127.0.0.1:http"),
        ("GATEWAY_LISTEN", "127.0.0.1:99999"),
        ("GATEWAY_MAX_BODY_BYTES", "1MB"),
        ("GATEWAY_MAX_BODY_BYTES", "0"),
        ("GATEWAY_DRAIN_S", "-1"),
        ("GATEWAY_DRAIN_S", "nan"),
        ("GATEWAY_BODY_WITHIN_S", "0"),
        ("GATEWAY_LOG_LEVEL", "loud"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_the_name_of_its_variable(name: str, value: str) -> None:
    with pytest.raises(SettingsFault, match=name):
        from_environment({name: value})


def test_every_unknown_variable_is_told_at_once_and_only_a_near_name_is_guessed() -> None:
    with pytest.raises(SettingsFault) as fault:
        from_environment({"GATEWAY_LISTN": "x", "GATEWAY_QQQ": "x"})
    assert str(fault.value) == (
        "GATEWAY_LISTN is no setting of the gateway. Did you mean GATEWAY_LISTEN?\n"
        "GATEWAY_QQQ is no setting of the gateway. docs/settings.md lists the settings."
    )


def test_an_empty_value_is_no_value() -> None:
    with pytest.raises(SettingsFault, match="GATEWAY_DATA is empty"):
        from_environment({"GATEWAY_DATA": ""})


def test_the_log_level_has_no_case() -> None:
    assert from_environment({"GATEWAY_LOG_LEVEL": "INFO"}).log_level == "info"
