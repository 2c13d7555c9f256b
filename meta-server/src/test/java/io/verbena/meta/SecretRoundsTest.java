package io.verbena.meta;

import io.verbena.meta.membership.ConductorOptions;
import io.verbena.meta.membership.Member;
import io.verbena.meta.membership.MembershipConductor;
import io.verbena.meta.membership.MembershipOptions;
import io.verbena.meta.membership.MetaLedger;
import io.verbena.meta.membership.Unheard;
import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.StoredSecrets;
import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.message.AdmissionToken;
import io.verbena.protocol.message.Heartbeat;
import io.verbena.protocol.message.HeldSecrets;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.message.Registration;
import io.verbena.protocol.session.Credentials;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.DeviceAddress;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.security.SecureRandom;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/** Secrets are renewed, the former ones are taken meanwhile, and nobody is left behind. */
class SecretRoundsTest
{
    private static final long LEASE_NS = 1_000_000;
    private static final long ROUND_NS = 60_000_000;
    private static final long PATIENCE_NS = 4 * LEASE_NS;
    private static final long START_MS = 1_000_000;
    private static final IdentitySecret OF_TOKEN = IdentitySecret.random(new SecureRandom());

    private final InMemoryMetaStore store = new InMemoryMetaStore();
    private MembershipConductor conductor;
    private SecretRounds rounds;
    private RegistrationSecrets secrets;
    private long nowNs = 5;
    private long wallMs = START_MS;
    private Node memory;
    private Node compute;
    private int devices;

    /** A node as far as its secrets go. */
    private final class Node
    {
        private final Member member;
        private final PeerIdentity identity;
        private final Credentials credentials;
        private List<AdmissionToken> tokens = List.of();

        private Node(final NodeRole role)
        {
            member = conductor.register(new NodeRegistration(0, role, new DeviceAddress(1, ++devices, 3), 1,
                new RemoteRegion(0, NodeRole.MEMORY_NODE == role ? 4096 : 0, 0)), nowNs);
            identity = new PeerIdentity(member.nodeId(), member.incarnation());
            credentials = new Credentials(new Registration(member.nodeId(), member.incarnation(), 1, 1, 1, 1,
                LEASE_NS, 1, secrets.sent(identity), secrets.tokens(identity, HeldSecrets.NONE), List.of()), OF_TOKEN);
        }

        private void beat()
        {
            credentials.renew(answer());
        }

        private Heartbeat answer()
        {
            final Member known = conductor.heartbeat(member.nodeId(), member.incarnation(), 0, nowNs);
            final HeldSecrets held = credentials.held();
            tokens = secrets.tokens(identity, held);
            return new Heartbeat(1, 1, 1, LEASE_NS, tokens, List.of(), secrets.renewed(known, held, tokens),
                List.of());
        }

        private PeerAddress address()
        {
            return new PeerAddress(new DeviceAddress(1, 2, 3), 1, member.nodeId(), member.incarnation());
        }
    }

    @BeforeEach
    void open()
    {
        start();
        memory = new Node(NodeRole.MEMORY_NODE);
        compute = new Node(NodeRole.COMPUTE_NODE);
    }

    /** A server on what is stored: another one, or the same one again. */
    private void start()
    {
        final MetaState state = store.load();
        final StoredSecrets stored = null != state.secret() ? state.secret() :
            StoredSecrets.first(IdentitySecret.random(new SecureRandom()), wallMs);
        final MetaLedger ledger = MembershipConductor.openLedger(store, state, 1, stored);
        conductor = new MembershipConductor(ledger, state, new ConductorOptions(
            new MembershipOptions(LEASE_NS, 1, 8), LEASE_NS, LEASE_NS, LEASE_NS, false), new Unheard(), nowNs);
        rounds = new SecretRounds(ledger, conductor.table(), stored, 2 * ROUND_NS, new SecureRandom(),
            () -> wallMs, nowNs);
        secrets = new RegistrationSecrets(
            rounds, conductor.table(), () -> AccessRules.NONE, OF_TOKEN, false, (_) -> false);
    }

    private void pass(final long timeNs)
    {
        nowNs += timeNs;
        wallMs += timeNs / 1_000_000;
    }

    /** Until all have the secrets of this round, and have said so. */
    private void beatAll()
    {
        for (int i = 0; i < 3; i++)
        {
            memory.beat();
            compute.beat();
        }
    }

    private void nextRound()
    {
        beatAll();
        pass(ROUND_NS);
        assertThat(rounds.poll(nowNs)).isEqualTo(1);
    }

    /** Whether the memory node takes what a compute node has for it. */
    private boolean isTaken(final Node client)
    {
        final IdentitySecret shown = client.credentials.towards(memory.address());
        return null != shown && (shown.equals(memory.credentials.ofCaller(client.identity)) ||
            shown.equals(memory.credentials.ofCallerBefore(client.identity)));
    }

    /** Whether the meta server takes what a node proves itself by. */
    private boolean isTakenByServer(final IdentitySecret shown, final Node node)
    {
        return shown.equals(secrets.of(node.identity)) || shown.equals(secrets.before(node.identity));
    }

    private boolean takesServer()
    {
        final IdentitySecret shown = secrets.towards(memory.address());
        return shown.equals(memory.credentials.ofCaller(PeerIdentity.META_SERVER)) ||
            shown.equals(memory.credentials.ofCallerBefore(PeerIdentity.META_SERVER));
    }

    private static IdentitySecret towardsServer(final Node node)
    {
        return node.credentials.towards(new PeerAddress(new DeviceAddress(1, 2, 3), 1, 0, 0));
    }

    @Test
    void shouldBeginARoundAfterHalfALifetime()
    {
        beatAll();
        pass(ROUND_NS - 1);
        assertThat(rounds.poll(nowNs)).isZero();
        assertThat(rounds.round()).isEqualTo(1);
        pass(1);
        assertThat(rounds.poll(nowNs)).isEqualTo(1);
        assertThat(rounds.round()).isEqualTo(2);
        assertThat(rounds.poll(nowNs)).as("not at once again").isZero();
        assertThat(store.load().secret()).as("it is on disk").isEqualTo(rounds.stored());
        assertThat(rounds.stored().startedMs()).isEqualTo(wallMs);
        beatAll();
        pass(ROUND_NS - 1);
        assertThat(rounds.poll(nowNs)).isZero();
        pass(1);
        assertThat(rounds.poll(nowNs)).isEqualTo(1);
    }

    @Test
    void shouldTakeTheSecretOfTheRoundBeforeAndNoneThatIsOlder()
    {
        final IdentitySecret first = towardsServer(compute);
        final IdentitySecret firstOfMemory = secrets.towards(memory.address());
        assertThat(first).isEqualTo(secrets.of(compute.identity));
        assertThat(secrets.before(compute.identity)).as("nothing is before the first").isNull();
        nextRound();
        assertThat(secrets.of(compute.identity)).isNotEqualTo(first);
        assertThat(secrets.before(compute.identity)).isEqualTo(first);
        assertThat(isTakenByServer(towardsServer(compute), compute)).as("it has not heard").isTrue();
        nextRound();
        assertThat(isTakenByServer(first, compute)).as("stolen two rounds ago").isFalse();
        memory.beat();
        assertThat(firstOfMemory).isNotEqualTo(memory.credentials.ofCaller(PeerIdentity.META_SERVER))
            .isNotEqualTo(memory.credentials.ofCallerBefore(PeerIdentity.META_SERVER));
        assertThat(isTakenByServer(towardsServer(compute), compute)).isTrue();
        assertThat(secrets.before(PeerIdentity.CLIENT)).isNull();
        assertThat(secrets.before(PeerIdentity.META_SERVER)).isNull();
        assertThat(secrets.before(PeerIdentity.user(7, 7))).isNull();
        assertThat(secrets.before(new PeerIdentity(1, 0))).isNull();
    }

    /** At each moment, whoever has heard of the new round and whoever has not. */
    @Test
    void shouldLetConnectInWhateverOrderNodesHearOfIt()
    {
        nextRound();
        for (final Node next : List.of(compute, memory, compute, memory, compute))
        {
            assertThat(isTaken(compute)).isTrue();
            assertThat(takesServer()).isTrue();
            final Node late = new Node(NodeRole.COMPUTE_NODE);
            assertThat(isTaken(late)).as("one that has just come").isTrue();
            assertThat(isTakenByServer(towardsServer(late), late)).isTrue();
            assertThat(conductor.leave(late.member.nodeId(), late.member.incarnation(), nowNs)).isNotNull();
            next.beat();
        }
        assertThat(compute.credentials.held().round()).isEqualTo(2);
        assertThat(compute.credentials.held().tokensRound()).isEqualTo(2);
        assertThat(memory.credentials.held().round()).isEqualTo(2);
        assertThat(secrets.towards(memory.address())).as("the latest, since it has that")
            .isEqualTo(secrets.of(memory.identity));
    }

    @Test
    void shouldGiveTokensOfTheRoundBeforeUntilAllMemoryNodesHaveHeard()
    {
        nextRound();
        compute.beat();
        compute.beat();
        assertThat(compute.credentials.held().round()).isEqualTo(2);
        assertThat(compute.credentials.held().tokensRound()).isEqualTo(1);
        final Node second = new Node(NodeRole.MEMORY_NODE);
        memory.beat();
        memory.beat();
        compute.beat();
        assertThat(compute.tokens).as("of the one that is new, of the round before")
            .extracting(AdmissionToken::nodeId, AdmissionToken::round)
            .containsExactly(tuple(second.member.nodeId(), 1));
        second.beat();
        compute.beat();
        assertThat(compute.tokens).extracting(AdmissionToken::round).containsExactly(2, 2);
        compute.beat();
        assertThat(compute.tokens).as("it has all").isEmpty();
        assertThat(compute.credentials.towards(second.address()))
            .isEqualTo(second.credentials.ofCaller(compute.identity));
    }

    /** One that is gone never says that it has heard. */
    @Test
    void shouldNotHoldTokensBackForAMemoryNodeThatHasNoLease()
    {
        final Node gone = new Node(NodeRole.MEMORY_NODE);
        beatAll();
        gone.beat();
        pass(ROUND_NS);
        assertThat(rounds.poll(nowNs)).isEqualTo(1);
        conductor.leave(gone.member.nodeId(), gone.member.incarnation(), nowNs);
        beatAll();
        assertThat(compute.credentials.held().tokensRound()).isEqualTo(2);
    }

    /** It has all tokens that there are, and they are of the round before. */
    @Test
    void shouldNotTakeAComputeNodeForDoneBeforeItsTokensAreOfTheRound()
    {
        nextRound();
        for (int i = 0; i < 3; i++)
        {
            compute.beat();
        }
        assertThat(compute.tokens).isEmpty();
        assertThat(compute.credentials.held().round()).isEqualTo(2);
        assertThat(rounds.has(compute.member)).isFalse();
        beatAll();
        assertThat(rounds.has(compute.member)).isTrue();
    }

    /** Whoever shook hands in an earlier round is known by its certificate still. */
    @Test
    void shouldProveCertificatesByTheSameInAllRounds()
    {
        final PeerIdentity compute7 = PeerIdentity.joining(7, 4);
        final IdentitySecret joining = secrets.of(compute7);
        nextRound();
        nextRound();
        assertThat(secrets.of(compute7)).isEqualTo(joining);
        assertThat(secrets.joining(compute7.incarnation())).isEqualTo(joining);
    }

    /** A round in parts: a part that is lost comes again, and none is left out. */
    @Test
    void shouldGoOnWithTheTokensOfARoundWhereANodeStands()
    {
        final Node second = new Node(NodeRole.MEMORY_NODE);
        beatAll();
        second.beat();
        pass(ROUND_NS);
        assertThat(rounds.poll(nowNs)).isEqualTo(1);
        for (final Node each : List.of(memory, memory, second, second))
        {
            each.beat();
        }
        final int first = memory.member.incarnation();
        assertThat(secrets.tokens(compute.identity, new HeldSecrets(2, 2, first)))
            .extracting(AdmissionToken::nodeId).containsExactly(second.member.nodeId());
        assertThat(secrets.tokens(compute.identity, new HeldSecrets(2, 1, second.member.incarnation())))
            .extracting(AdmissionToken::nodeId)
            .containsExactly(memory.member.nodeId(), second.member.nodeId());
        final List<AdmissionToken> all = secrets.tokens(compute.identity, new HeldSecrets(2, 1, 0));
        compute.beat();
        assertThat(compute.credentials.held().newestToken()).isEqualTo(second.member.incarnation());
        compute.credentials.renew(new Heartbeat(1, 1, 1, 1, List.of(all.getFirst()), List.of()));
        assertThat(compute.credentials.held().newestToken()).as("a part that comes again")
            .isEqualTo(second.member.incarnation());
    }

    @Test
    void shouldNotKnowAPartOfARoundForAllOfIt()
    {
        final Node second = new Node(NodeRole.MEMORY_NODE);
        beatAll();
        second.beat();
        pass(ROUND_NS);
        rounds.poll(nowNs);
        for (final Node each : List.of(memory, memory, second, second))
        {
            each.beat();
        }
        final Heartbeat answer = compute.answer();
        compute.credentials.renew(new Heartbeat(
            1, 1, 1, 1, answer.tokens().subList(0, 1), List.of(), answer.renewed(), List.of()));
        assertThat(compute.credentials.held())
            .isEqualTo(new HeldSecrets(2, 2, answer.tokens().getFirst().incarnation()));
        compute.beat();
        assertThat(rounds.has(compute.member)).as("it has just got the rest, and has not said so").isFalse();
        compute.beat();
        assertThat(rounds.has(compute.member)).isTrue();
    }

    @Test
    void shouldGiveTheSameAgainWhenAnAnswerIsLost()
    {
        nextRound();
        final Heartbeat lost = memory.answer();
        final Heartbeat again = memory.answer();
        assertThat(again.renewed()).isEqualTo(lost.renewed()).isNotNull();
        assertThat(rounds.has(memory.member)).isFalse();
        memory.credentials.renew(again);
        assertThat(memory.credentials.held().round()).isEqualTo(2);
        assertThat(memory.answer().renewed()).as("it has it").isNull();
        assertThat(rounds.has(memory.member)).isTrue();
        memory.credentials.renew(lost);
        assertThat(takesServer()).as("one that comes twice").isTrue();
    }

    @Test
    void shouldWaitForNodesThatHaveNotHeardOfThisRound()
    {
        nextRound();
        memory.beat();
        memory.beat();
        pass(ROUND_NS);
        memory.beat();
        compute.answer();
        assertThat(rounds.poll(nowNs)).as("a compute node has not the latest").isZero();
        compute.beat();
        assertThat(rounds.poll(nowNs)).as("it has not said that it has").isZero();
        compute.beat();
        compute.beat();
        assertThat(rounds.poll(nowNs)).isEqualTo(1);
    }

    /** Else one that was taken over could keep a stolen secret good by never saying that it has another one. */
    @Test
    void shouldNotWaitForeverForANodeThatDoesNotSay()
    {
        nextRound();
        memory.beat();
        memory.beat();
        pass(ROUND_NS + PATIENCE_NS - 1);
        compute.answer();
        assertThat(rounds.poll(nowNs)).isZero();
        pass(1);
        assertThat(rounds.poll(nowNs)).isEqualTo(1);
    }

    /** However late the round before it began. */
    @Test
    void shouldGiveEachRoundItsWholeTime()
    {
        nextRound();
        pass(ROUND_NS + PATIENCE_NS);
        assertThat(rounds.poll(nowNs)).isEqualTo(1);
        beatAll();
        pass(ROUND_NS - 1);
        memory.beat();
        compute.beat();
        assertThat(rounds.poll(nowNs)).isZero();
        pass(1);
        assertThat(rounds.poll(nowNs)).isEqualTo(1);
    }

    @Test
    void shouldGiveAMemoryNodeNoTokens()
    {
        final Node second = new Node(NodeRole.MEMORY_NODE);
        assertThat(secrets.tokens(compute.identity, HeldSecrets.NONE)).hasSize(2);
        assertThat(secrets.tokens(memory.identity, HeldSecrets.NONE)).isEmpty();
        assertThat(secrets.tokens(second.identity, HeldSecrets.NONE)).isEmpty();
        assertThat(secrets.tokens(new PeerIdentity(99, 99), HeldSecrets.NONE)).as("nobody").isEmpty();
    }

    /** The holder says up to which one it has them: one that came back under its number is the latest. */
    @Test
    void shouldGiveTokensByIncarnations()
    {
        final Node second = new Node(NodeRole.MEMORY_NODE);
        devices = 0;
        final Member back = new Node(NodeRole.MEMORY_NODE).member;
        assertThat(back.nodeId()).as("asked again").isEqualTo(memory.member.nodeId());
        assertThat(back.incarnation()).isGreaterThan(second.member.incarnation());
        assertThat(secrets.tokens(compute.identity, HeldSecrets.NONE))
            .extracting(AdmissionToken::nodeId, AdmissionToken::incarnation)
            .containsExactly(tuple(second.member.nodeId(), second.member.incarnation()),
                tuple(back.nodeId(), back.incarnation()));
    }

    @Test
    void shouldNotWaitForWhoHasNoLease()
    {
        nextRound();
        memory.beat();
        memory.beat();
        conductor.leave(compute.member.nodeId(), compute.member.incarnation(), nowNs);
        pass(ROUND_NS);
        memory.beat();
        assertThat(rounds.poll(nowNs)).isEqualTo(1);
    }

    @Test
    void shouldGoOnWhereAnotherServerLeftOff()
    {
        nextRound();
        beatAll();
        final StoredSecrets before = rounds.stored();
        final IdentitySecret token = compute.credentials.towards(memory.address());
        pass(ROUND_NS - 10_000_000);
        start();
        assertThat(rounds.stored()).isEqualTo(before);
        assertThat(takesServer()).as("nothing is known of what nodes have").isTrue();
        assertThat(compute.answer().tokens()).as("no token of a round that is over").isEmpty();
        assertThat(compute.credentials.towards(memory.address())).isEqualTo(token);
        final Node late = new Node(NodeRole.COMPUTE_NODE);
        assertThat(isTaken(late)).isTrue();
        pass(9_000_000);
        assertThat(rounds.poll(nowNs)).isZero();
        pass(1_000_000);
        memory.beat();
        compute.beat();
        late.beat();
        beatAll();
        late.beat();
        late.beat();
        assertThat(rounds.poll(nowNs)).as("the rest of the round").isEqualTo(1);
    }

    /** Clocks bound how long a round lasts, and leave nobody behind. */
    @Test
    void shouldNotLoseANodeWhenClocksOfServersDiffer()
    {
        nextRound();
        wallMs += 1_000_000_000;
        start();
        assertThat(rounds.poll(nowNs)).as("one that has heard, as far as is known, of nothing").isZero();
        assertThat(isTakenByServer(towardsServer(compute), compute)).isTrue();
        beatAll();
        assertThat(rounds.poll(nowNs)).isEqualTo(1);
        assertThat(isTaken(compute)).isTrue();

        wallMs -= 2_000_000_000L;
        start();
        beatAll();
        pass(ROUND_NS - 1);
        assertThat(rounds.poll(nowNs)).isZero();
        pass(1);
        assertThat(rounds.poll(nowNs)).as("a whole round from its start").isEqualTo(1);
    }

    /** A folder from a backup knows less than the nodes. */
    @Test
    void shouldRenewASecretOfARoundThatIsNotKnown()
    {
        final Heartbeat answer = memory.answer();
        assertThat(answer.renewed()).isNull();
        assertThat(secrets.renewed(memory.member, new HeldSecrets(9, 9, 0), List.of()))
            .isEqualTo(secrets.sent(memory.identity));
    }

    /** Who has stolen the secret of a round, and reads all packets, does not have the next one. */
    @Test
    void shouldNotHideTwoSecretsWithTheSame()
    {
        final IdentitySecret first = secrets.of(memory.identity);
        final IdentitySecret sentFirst = secrets.sent(memory.identity).latest();
        nextRound();
        final IdentitySecret sentSecond = secrets.sent(memory.identity).latest();
        assertThat(secrets.sent(memory.identity).before()).as("as it was sent before").isEqualTo(sentFirst);
        assertThat(xor(xor(first, sentFirst), sentSecond)).isNotEqualTo(secrets.of(memory.identity));
        memory.beat();
        memory.beat();
        compute.beat();
        compute.beat();
        assertThat(compute.credentials.towards(memory.address())).as("the masked one is shown")
            .isEqualTo(memory.credentials.ofCaller(compute.identity));
    }

    /** One secret of the holder hides tokens of two rounds. */
    @Test
    void shouldNotHideTwoTokensWithTheSame()
    {
        nextRound();
        compute.beat();
        final IdentitySecret first = memory.credentials.ofCaller(compute.identity);
        final AdmissionToken sentFirst = secrets.tokens(compute.identity, new HeldSecrets(2, 0, 0)).getFirst();
        assertThat(sentFirst.round()).isEqualTo(1);
        memory.beat();
        memory.beat();
        final AdmissionToken sentSecond = secrets.tokens(compute.identity, new HeldSecrets(2, 1, 0)).getFirst();
        assertThat(sentSecond.round()).isEqualTo(2);
        assertThat(xor(xor(first, sentFirst.secret()), sentSecond.secret()))
            .isNotEqualTo(memory.credentials.ofCaller(compute.identity));
    }

    private static IdentitySecret xor(final IdentitySecret one, final IdentitySecret other)
    {
        final UnsafeBuffer bytes = new UnsafeBuffer(new byte[32]);
        one.write(bytes, 0);
        other.write(bytes, 16);
        bytes.putLong(0, bytes.getLong(0) ^ bytes.getLong(16));
        bytes.putLong(8, bytes.getLong(8) ^ bytes.getLong(24));
        return IdentitySecret.read(bytes, 0);
    }
}
