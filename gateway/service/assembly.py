"""Ports in, services out. Used by bootstrap with the adapters and by the tests' service door with fakes."""

from msgspec import Struct

from gateway.ports.clock import Clock
from gateway.ports.counter import Counter
from gateway.ports.events import Events
from gateway.ports.ledger import Ledger
from gateway.ports.profiles import Profiles
from gateway.ports.reads import Accounts, Decisions, Keys, Operations, Sources
from gateway.ports.revisions import Revisions
from gateway.ports.transport import Probe, Transport
from gateway.service.active import InForce
from gateway.service.administer import Administer
from gateway.service.canary import Canary
from gateway.service.credentials import Credentials
from gateway.service.directory import Directory
from gateway.service.explain import Explain
from gateway.service.inspect import Inspect
from gateway.service.lifecycle import Lifecycle
from gateway.service.operators import Operators
from gateway.service.pipeline import Pipeline
from gateway.service.quarantines import Quarantines
from gateway.service.readiness import ReadinessBoard
from gateway.service.reload import Reload
from gateway.service.replay import Replay
from gateway.service.running import Running, Sweeper
from gateway.service.settling import Settling
from gateway.service.steps.authenticate import Authenticate
from gateway.service.steps.authorise import Authorise
from gateway.service.steps.bound import Bound
from gateway.service.steps.execute import Execute
from gateway.service.steps.hand_over import HandOver
from gateway.service.steps.look_up import LookUp
from gateway.service.steps.persist import Persist
from gateway.service.steps.reserve import Reserve
from gateway.service.steps.select import Select
from gateway.service.visible import Visible
from gateway.service.watch import ReadinessWatch


class StorePorts(Struct, frozen=True, kw_only=True):
    """The store, and the clock that dates what is written."""

    ledger: Ledger
    operations: Operations
    accounts: Accounts
    sources: Sources
    keys: Keys
    decisions: Decisions
    profiles: Profiles
    clock: Clock


class Ports(StorePorts, frozen=True, kw_only=True):
    """Everything from outside. The readiness board is made first, because the store looks at it at T1."""

    transport: Transport
    probe: Probe
    counter: Counter
    revisions: Revisions
    events: Events


class AdminServices(Struct, frozen=True, kw_only=True):
    """What administrators need, and the owners of operations. Works over a store alone."""

    authenticate: Authenticate
    administer: Administer
    inspect: Inspect
    operators: Operators
    credentials: Credentials
    directory: Directory
    explain: Explain
    lifecycle: Lifecycle
    reload: Reload | None
    """None over a store alone, where there is nothing to reload."""


class Services(Struct, frozen=True, kw_only=True):
    """What the doors call."""

    pipeline: Pipeline
    admin: AdminServices
    visible: Visible
    reload: Reload
    running: Running
    settling: Settling
    sweeper: Sweeper
    board: ReadinessBoard
    quarantines: Quarantines
    watch: ReadinessWatch
    in_force: InForce
    clock: Clock
    events: Events


def assemble_admin(
    ports: StorePorts,
    in_force: InForce,
    *,
    os_user: str | None,
    reload: Reload | None = None,
    board: ReadinessBoard | None = None,
    quarantines: Quarantines | None = None,
) -> AdminServices:
    """Administration over a store. ``os_user`` is whoever works on it without a server, where nobody looks at
    engines: there is no board then."""
    administer = Administer(ports.ledger)
    return AdminServices(
        authenticate=Authenticate(ports.keys, in_force),
        administer=administer,
        inspect=Inspect(ports.operations, administer),
        operators=Operators(ports.ledger, ports.operations, ports.accounts, ports.clock, os_user=os_user),
        credentials=Credentials(ports.keys, ports.clock, os_user=os_user),
        directory=Directory(ports.sources, ports.clock, os_user=os_user),
        explain=Explain(ports.decisions),
        lifecycle=Lifecycle(ports.profiles, board, quarantines, os_user=os_user),
        reload=reload,
    )


def assemble(ports: Ports, in_force: InForce, board: ReadinessBoard, *, body_within_s: float = 30.0) -> Services:
    """Wire the services to the ports.

    :param body_within_s: how long a request that is already authenticated may take to send its body.
    """
    running = Running()
    settling = Settling(ports.ledger, running, ports.events)
    reload = Reload(
        revisions=ports.revisions,
        ledger=ports.ledger,
        accounts=ports.accounts,
        in_force=in_force,
        running=running,
        clock=ports.clock,
        events=ports.events,
        body_within_s=body_within_s,
    )
    quarantines = Quarantines(ports.profiles, board, in_force, ports.clock, ports.events)
    admin = assemble_admin(ports, in_force, os_user=None, reload=reload, board=board, quarantines=quarantines)
    reserve = Reserve(ports.ledger, running, settling, ports.clock)
    execute = Execute(ports.ledger, ports.transport, ports.clock)
    persist = Persist(settling, quarantines, ports.clock, ports.events)
    canary = Canary(
        counter=ports.counter,
        reserve=reserve,
        execute=execute,
        persist=persist,
        running=running,
        quarantines=quarantines,
        board=board,
        in_force=in_force,
        clock=ports.clock,
    )
    replay = Replay(ports.operations, ports.sources, ports.ledger, ports.clock)
    pipeline = Pipeline(
        authenticate=admin.authenticate,
        look_up=LookUp(ports.operations, replay, ports.clock),
        authorise=Authorise(ports.sources, ports.clock),
        select=Select(board, ports.clock),
        bound=Bound(ports.counter),
        reserve=reserve,
        execute=execute,
        persist=persist,
        hand_over=HandOver(admin.authenticate, ports.operations, ports.sources, replay, ports.ledger),
        ledger=ports.ledger,
        clock=ports.clock,
        events=ports.events,
    )
    return Services(
        pipeline=pipeline,
        admin=admin,
        visible=Visible(ports.clock),
        reload=reload,
        running=running,
        settling=settling,
        sweeper=Sweeper(ports.ledger, running, ports.events),
        board=board,
        quarantines=quarantines,
        watch=ReadinessWatch(
            board=board,
            probe=ports.probe,
            canary=canary,
            quarantines=quarantines,
            in_force=in_force,
            events=ports.events,
        ),
        in_force=in_force,
        clock=ports.clock,
        events=ports.events,
    )
