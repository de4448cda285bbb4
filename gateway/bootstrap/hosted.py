"""What hosted profiles need before they serve: their secrets, and litellm's translations."""

from adapters import transport
from adapters.secrets import Vault
from gateway.domain.errors import StartRefused
from gateway.domain.fault import Fault
from gateway.domain.snapshot import Snapshot
from gateway.ports.secrets import Held, NotHeld
from gateway.service.active import InForce
from gateway.settings import Settings

NOT_INSTALLED = (
    "A hosted profile has its credential, but what translates for hosted providers is not installed. Run: "
    "pip install --require-hashes -r requirements/hosted.txt, or take the credential away."
)


class SecretsInForce:
    """Implements Secrets for the registry that is in force at the moment of the question."""

    def __init__(self, vault: Vault, in_force: InForce) -> None:
        self._vault = vault
        self._in_force = in_force

    def of(self, credential_id: str) -> Held | NotHeld:
        """See Secrets.of."""
        credential = self._in_force.active.snapshot.credentials.get(credential_id)
        return "credential_missing" if credential is None else self._vault.of(credential)


def prepare_hosted(settings: Settings, snapshot: Snapshot, vault: Vault) -> None:
    """Read the secrets. Where a hosted profile has its own, load the translations and try them, for seconds.

    :raises StartRefused: if a profile with a credential could not serve what it lists.
    """
    vault.read(snapshot.credentials.values())
    profiles = [profile for profile in snapshot.profiles.values() if transport.is_hosted(profile.adapter)]
    held = [
        profile
        for profile in profiles
        if profile.credential and isinstance(vault.of(snapshot.credentials[profile.credential]), Held)
    ]
    if not held:
        return
    try:
        translation = transport.load_translations()
    except transport.NotInstalled:
        raise StartRefused(NOT_INSTALLED) from None
    faults = tuple(
        Fault(
            file=str(settings.registry_folder / "profiles" / f"{profile.id}.yaml"),
            line=0,
            path="/capabilities",
            sentence=f"The translation for this model does not carry {capability} without loss.",
            remedy="Remove the capability from the profile, or name a model that has it.",
        )
        for profile in held
        for capability in transport.not_carried(translation, profile)
    )
    if faults:
        raise StartRefused("Hosted profiles have faults:\n" + "\n".join(map(str, faults)), faults)
