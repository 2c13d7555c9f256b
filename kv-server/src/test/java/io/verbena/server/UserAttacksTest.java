package io.verbena.server;

import io.verbena.client.KvClient;
import io.verbena.client.KvInvalidRequestException;
import io.verbena.client.TableOptions;
import io.verbena.compute.ComputeNodeConfiguration;
import io.verbena.protocol.access.User;
import io.verbena.protocol.bootstrap.AccessTicket;
import io.verbena.protocol.bootstrap.BootstrapAnswer;
import io.verbena.protocol.bootstrap.BootstrapClient;
import io.verbena.protocol.bootstrap.BootstrapLocator;
import io.verbena.protocol.bootstrap.UserLogin;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.DeniedOperations;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.message.Registration;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.session.Credentials;
import io.verbena.raas.BatchListener;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.rdma.verbs.Device;

import org.agrona.CloseHelper;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What those can do who try more than they may: nothing. */
@Timeout(180)
class UserAttacksTest extends UsersRig
{
    private static final int OPERATION = 201;
    private static final int GET = 1;
    private static final int ANSWER_FOUND = 1;
    private static final int ANSWER_DENIED = 19;
    private static final AtomicInteger NONCES = new AtomicInteger(100);
    /** More than the meta server keeps. */
    private static final int MOST_OPEN = 1_500;

    /** As the wire has it: the name of a table that is permitted, with the number of another one. */
    private byte[] getMessage(final int tableId, final String name, final String key)
    {
        return ByteBuffer.allocate(56 + name.length() + key.length()).order(ByteOrder.LITTLE_ENDIAN)
            .putShort(0, (short)2).putShort(2, (short)GET).putInt(4, tableId).putLong(8, STEP_NS)
            .putInt(32, key.length()).putInt(36, -1).putLong(40, name.length())
            .put(56, bytes(name)).put(56 + name.length(), bytes(key)).array();
    }

    private int answer(final RaasContext raas, final VirtualQp vqp, final byte[] message)
    {
        final int[] answer = {-1};
        raas.rpcClient().call(vqp, OPERATION, new UnsafeBuffer(message), 0, message.length, STEP_NS,
            (callId, status, payload, offset, length) ->
                answer[0] = length < 4 ? 0 : payload.getShort(offset + 2, ByteOrder.LITTLE_ENDIAN));
        while (answer[0] < 0)
        {
            raas.poll();
        }
        return answer[0];
    }

    /** By whom, what and where, and nothing of keys and values. */
    @Test
    void shouldAuditWhatComputeNodesDeny() throws Exception
    {
        putAnn();
        awaitEnforced();
        try (KvClient ann = user("ann", SECRET))
        {
            for (int i = 0; i < 50; i++)
            {
                expectDenied(() -> ann.table("private").put(bytes("secretkey"), bytes("secretvalue")));
            }
            expectDenied(() -> ann.table("hidden"));
        }
        final Path audit = directory.resolve("data/audit.jsonl");
        final long startNs = System.nanoTime();
        while (!Files.readString(audit).contains("FIND_TABLE in table hidden"))
        {
            assertThat(System.nanoTime() - startNs).as("ns until it is reported").isLessThan(STEP_NS);
            Thread.sleep(20);
        }
        final List<String> lines = Files.readAllLines(audit);
        assertThat(lines).anyMatch((line) -> line.contains("\"event\":\"denied\",\"by\":\"user ann\"") &&
            line.contains("\"subject\":\"PUT in table private, ") && line.contains("by node "));
        assertThat(lines.stream().filter((line) -> line.contains("PUT in table private")).mapToInt((line) ->
            Integer.parseInt(line.replaceAll(".*private, (\\d+) times?,.*", "$1"))).sum()).isEqualTo(50);
        assertThat(lines).noneMatch((line) -> line.contains("secretkey") || line.contains("secretvalue"));
    }

    /** A user or operator reports nothing. */
    @Test
    void shouldTakeReportsOfDenialsFromComputeNodesOnly()
    {
        assertThat(call(admin, (client) -> client.reportDenials(
            List.of(new DeniedOperations("user eve", "GET in table t", 1)), STEP_NS)).status())
            .isEqualTo(ControlStatus.FORBIDDEN);
    }

    @Test
    void shouldGoByTheTableThatTheNumberNames() throws IOException
    {
        putAnn();
        awaitEnforced();
        final UserLogin login = UserLogin.of("ann", SECRET);
        final AccessTicket ann = BootstrapClient.ask(meta.address(), login, 10_000).ticket();
        final List<Integer> answers = new ArrayList<>();
        try (Device device = fabric.openDevice("attacker");
            RaasContext raas = RaasContext.open(device, new RaasConfiguration()))
        {
            ann.use(raas);
            final VirtualQp vqp = raas.connect(new PeerAddress(compute.device().address(),
                ComputeNodeRole.SERVICE_PORT, 0, 0), BatchListener.CALLS_ONLY, STEP_NS);
            for (int tableId = 1; tableId <= 4; tableId++)
            {
                answers.add(answer(raas, vqp, getMessage(tableId, "open", "bob:1")));
            }
            vqp.close();
            raas.identity(PeerIdentity.CLIENT);
            final VirtualQp unnamed = raas.connect(new PeerAddress(compute.device().address(),
                ComputeNodeRole.SERVICE_PORT, 0, 0), BatchListener.CALLS_ONLY, STEP_NS);
            for (int tableId = 1; tableId <= 5; tableId++)
            {
                assertThat(answer(raas, unnamed, getMessage(tableId, "open", "bob:1"))).isEqualTo(ANSWER_DENIED);
            }
        }
        assertThat(answers).containsExactlyInAnyOrder(ANSWER_FOUND, ANSWER_DENIED, ANSWER_DENIED, ANSWER_DENIED);
    }

    /** Who cannot prove to be an operator, or to be that user, is not let in, here or there. */
    @Test
    void shouldNotBeFooledByAnIdentityThatIsForged()
    {
        final User ann = putAnn();
        awaitEnforced();
        try (Device device = fabric.openDevice("attacker");
            RaasContext raas = RaasContext.open(device, new RaasConfiguration()))
        {
            final PeerAddress node =
                new PeerAddress(compute.device().address(), ComputeNodeRole.SERVICE_PORT, 0, 0);
            final PeerAddress metaServer = locator().address();
            for (final PeerIdentity forged : List.of(PeerIdentity.OPERATOR, ann.identity(), new PeerIdentity(1, 1)))
            {
                raas.identity(forged, 1, (peer) -> new AccessTicket(forged,
                    token.clusterSecret().derive("guess", 1, 1)).secret());
                for (final PeerAddress peer : List.of(node, metaServer))
                {
                    final VirtualQp vqp = raas.connect(peer, BatchListener.CALLS_ONLY, STEP_NS);
                    while (VirtualQp.State.CONNECTING == vqp.state())
                    {
                        raas.poll();
                    }
                    assertThat(vqp.failure()).as("%s at %s", forged, peer).contains("did not prove");
                    vqp.close();
                }
            }
        }
    }

    @Test
    void shouldLetNobodyActAsOperatorOrNodeWithoutTheToken()
    {
        final AccessTicket ann = BootstrapClient.ask(meta.address(), login(putAnn()), 10_000).ticket();
        final NodeRegistration node = new NodeRegistration(
            0, NodeRole.COMPUTE_NODE, adminDevice.address(), 0, new RemoteRegion(0, 0, 0));
        final User evil = new User("evil", 0, 0, 0, VERIFIER, List.of());
        for (final boolean isUser : new boolean[]{false, true})
        {
            try (Device device = fabric.openDevice("attacker");
                RaasContext raas = RaasContext.open(device, new RaasConfiguration().identity(PeerIdentity.CLIENT)))
            {
                if (isUser)
                {
                    ann.use(raas);
                }
                final List<ControlCall<?>> calls = List.of(
                    call(raas, (client) -> client.register(node, STEP_NS)),
                    call(raas, (client) -> client.users("", -1, STEP_NS)),
                    call(raas, (client) -> client.putUser(evil, STEP_NS)),
                    call(raas, (client) -> client.removeUser("ann", STEP_NS)),
                    call(raas, (client) -> client.forgetNode(1, true, STEP_NS)),
                    call(raas, (client) -> client.forgetNode(1, false, STEP_NS)),
                    call(raas, (client) -> client.enterGroup(7, 1, STEP_NS)),
                    call(raas, (client) -> client.dropTable("open", STEP_NS)),
                    call(raas, (client) -> client.dropThisTable(new TableEntry("open", 2, new byte[0]), STEP_NS)));
                assertThat(calls).extracting(ControlCall::status).as("user=%s %s", isUser, calls)
                    .containsOnly(ControlStatus.FORBIDDEN);
            }
        }
        // One that has registered nowhere: without the token it is not even connected.
        try (Device device = fabric.openDevice("attacker");
            RaasContext raas = RaasContext.open(device, new RaasConfiguration()))
        {
            final ControlCall<?> call = call(raas, (client) -> client.register(node, STEP_NS));
            assertThat(call.status()).as(call.failure()).isEqualTo(ControlStatus.PEER_FAILED);
            assertThat(call.failure()).contains("did not prove");
        }
        assertThat(find("ann")).isNotNull();
        assertThat(find("evil")).isNull();
    }

    /** So many refusals of one second are recorded and no more. */
    private static void awaitNextSecond() throws InterruptedException
    {
        final long second = System.currentTimeMillis() / 1_000;
        while (System.currentTimeMillis() / 1_000 == second)
        {
            Thread.sleep(10);
        }
    }

    /** Everything that this class does is there, and no secret. */
    @Test
    void shouldRecordWhoChangedWhatAndWhoWasRefused() throws IOException, InterruptedException
    {
        shouldNotBeFooledByAnIdentityThatIsForged();
        awaitNextSecond();
        shouldLetNobodyActAsOperatorOrNodeWithoutTheToken();
        awaitNextSecond();
        assertThatThrownBy(() -> user("ann", "wrong secret")).isInstanceOf(KvInvalidRequestException.class);
        try (KvClient operator = operator())
        {
            operator.createTable("recorded", new TableOptions(10));
            operator.dropTable("recorded");
        }
        remove("ann");
        final Path file = directory.resolve("data").resolve(AuditFile.NAME);
        final long startNs = System.nanoTime();
        while (!Files.readString(file).contains("ann: there is no") && System.nanoTime() - startNs < STEP_NS &&
            !Files.readString(file).contains("does not have the secret"))
        {
            Thread.onSpinWait();
        }
        assertThat(Files.readString(file))
            .containsPattern("\"event\":\"joined\",\"by\":\"\",\"subject\":\"memory node \\d+ incarnation")
            .containsPattern("\"event\":\"putUser\".*ann, with a new secret: read,write on table open")
            .containsPattern("\"event\":\"removeUser\".*\"ann\"")
            .containsPattern("\"event\":\"createTable\",\"by\":\"node \\d+ incarnation \\d+\",.*recorded")
            .containsPattern("\"event\":\"dropTable\",\"by\":\"node \\d+ incarnation \\d+\",.*recorded")
            .containsPattern("\"event\":\"refused\".*does not prove to be operator")
            .containsPattern("\"event\":\"refused\",\"by\":\"client\".*putUser by client")
            .containsPattern("\"event\":\"refused\",\"by\":\"user 1 generation.*forgetNode by user 1")
            .containsPattern("\"event\":\"refused\".*handshakes, .*127.0.0.1: it names a user")
            .doesNotContain(SECRET).doesNotContain("wrong secret");
    }

    private static UserLogin login(final User user)
    {
        return UserLogin.of(user.name(), SECRET);
    }

    @Test
    void shouldRefuseAChangeThatSomebodyElseHasOvertakenAndOneTooMany()
    {
        final User first = putAnn();
        put("ann", null);
        final User late = new User("ann", 0, 0, first.revision(), null, List.of());
        assertThat(call(admin, (client) -> client.putUser(late, STEP_NS)).failure()).contains("by somebody else");
        final User twice = new User("ann", 0, 0, 0, VERIFIER, List.of());
        assertThat(call(admin, (client) -> client.putUser(twice, STEP_NS)).failure()).contains("there already");
        final User gone = new User("ben", 0, 0, 7, VERIFIER, List.of());
        assertThat(call(admin, (client) -> client.putUser(gone, STEP_NS)).failure()).contains("not there any more");
        final User bare = new User("ben", 0, 0, 0, null, List.of());
        assertThat(call(admin, (client) -> client.putUser(bare, STEP_NS)).failure()).contains("has no secret");
        assertThat(call(admin, (client) -> client.removeUser("ben", STEP_NS)).failure()).contains("no user 'ben'");
        assertThat(find("ann").grants()).isEmpty();
    }

    /** What a reader of packets learns from the answer to a registration does not let it act for the node. */
    @Test
    void shouldNotSendTheSecretsOfARegistrationAsTheyAre()
    {
        final Registration sent = call(admin, (client) -> client.register(new NodeRegistration(
            0, NodeRole.COMPUTE_NODE, adminDevice.address(), 0, new RemoteRegion(0, 0, 0)), STEP_NS)).result();
        final PeerRecord memory = call(admin, (client) -> client.nodes(0, STEP_NS)).result().nodes().stream()
            .filter((node) -> NodeRole.MEMORY_NODE == node.role()).findFirst().orElseThrow();
        final PeerAddress memoryNode =
            new PeerAddress(memory.device(), memory.servicePort(), memory.nodeId(), memory.incarnation());
        final PeerAddress metaServer = locator().address();
        final Credentials credentials = new Credentials(sent, token.clusterSecret());
        final IdentitySecret readToken = sent.tokens().stream()
            .filter((each) -> each.nodeId() == memory.nodeId()).findFirst().orElseThrow().secret();
        expectProof(sent, metaServer, sent.secret().latest(), false);
        expectProof(sent, memoryNode, readToken, false);
        expectProof(sent, memoryNode, sent.secret().latest(), false);
        expectProof(sent, metaServer, credentials.towards(metaServer), true);
        expectProof(sent, memoryNode, credentials.towards(memoryNode), true);
        try (Device device = fabric.openDevice("leaving");
            RaasContext raas = RaasContext.open(device, new RaasConfiguration()))
        {
            raas.identity(sent.identity(), NONCES.incrementAndGet(), credentials::towards);
            assertThat(call(raas, (client) -> client.leave(sent.nodeId(), sent.incarnation(), STEP_NS)).status())
                .isEqualTo(ControlStatus.OK);
        }
    }

    private void expectProof(
        final Registration registration, final PeerAddress peer, final IdentitySecret secret, final boolean isProof)
    {
        try (Device device = fabric.openDevice("reader");
            RaasContext raas = RaasContext.open(device, new RaasConfiguration()))
        {
            raas.identity(registration.identity(), NONCES.incrementAndGet(), (_) -> secret);
            final VirtualQp vqp = raas.connect(peer, BatchListener.CALLS_ONLY, STEP_NS);
            while (VirtualQp.State.CONNECTING == vqp.state())
            {
                raas.poll();
            }
            assertThat(VirtualQp.State.READY == vqp.state()).as(vqp.failure()).isEqualTo(isProof);
            vqp.close();
        }
    }

    /** Connections that say nothing, for as long as the node takes to join: as many as it takes. */
    @Test
    void shouldLetANodeJoinWhileHandshakesAreHalfOpen() throws Exception
    {
        final AtomicBoolean isOver = new AtomicBoolean();
        final AtomicInteger opened = new AtomicInteger();
        final Thread attacker = Thread.ofPlatform().start(() -> openConnections(isOver, opened));
        while (opened.get() < MOST_OPEN)
        {
            Thread.sleep(1);
        }
        final BootstrapAnswer answer = BootstrapClient.ask(meta.address(), token, 10_000);
        final ComputeNodeRole joining = ComputeNodeRole.open(fabric,
            new BootstrapLocator(meta.address(), token, answer), null, new ComputeNodeConfiguration(),
            ComputeNodeRole.DEFAULT_MAX_CLIENTS, null);
        start(joining);
        isOver.set(true);
        attacker.join();
        assertThat(opened.get()).isGreaterThanOrEqualTo(MOST_OPEN);
        final List<?> nodes = (List<?>)meta.health().get("nodes");
        assertThat(nodes).hasSizeGreaterThanOrEqualTo(2).allSatisfy((node) ->
            assertThat((long)((Map<?, ?>)node).get("lease_left_ms")).as("%s", node)
                .isGreaterThan(TimeUnit.NANOSECONDS.toMillis(LEASE_NS) / 2));
        try (KvClient client = operator())
        {
            assertThat(client.table("open").get(bytes("ann:1"))).isPresent();
        }
    }

    private void openConnections(final AtomicBoolean isOver, final AtomicInteger opened)
    {
        final Deque<Socket> open = new ArrayDeque<>();
        while (!isOver.get())
        {
            try
            {
                open.add(new Socket(LOOPBACK, meta.address().port()));
                opened.incrementAndGet();
                if (open.size() > MOST_OPEN)
                {
                    open.remove().close();
                }
            }
            catch (final IOException ignore)
            {
                // Refused for a moment: the next one.
            }
        }
        open.forEach(CloseHelper::quietClose);
    }
}
