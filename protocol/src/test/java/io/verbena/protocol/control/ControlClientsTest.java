package io.verbena.protocol.control;

import io.verbena.protocol.message.ChunkLease;
import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ChunkRun;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.ForgottenNode;
import io.verbena.protocol.message.EnteredLease;
import io.verbena.protocol.message.FailureDomain;
import io.verbena.protocol.message.FailureDomainPage;
import io.verbena.protocol.message.Heartbeat;
import io.verbena.protocol.message.HeldSecrets;
import io.verbena.protocol.message.MemoryNodeStat;
import io.verbena.protocol.message.MirrorAction;
import io.verbena.protocol.message.MirrorAnswer;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.protocol.message.NodePage;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.message.NotificationRequest;
import io.verbena.protocol.message.Registration;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.message.TablePage;
import io.verbena.protocol.view.FillProgress;
import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.RestoredGroup;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewAttempt;
import io.verbena.protocol.view.ViewPage;
import io.verbena.raas.Admission;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.RpcServer;
import io.verbena.raas.VirtualQp;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.soft.SoftFabric;
import io.verbena.rdma.soft.SoftFabricOptions;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAddress;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Both sides of every message over the soft fabric, with services that remember what they were asked. */
class ControlClientsTest
{
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final int META_PORT = 1;
    private static final int MEMORY_PORT = 2;
    private static final PeerIdentity ME = new PeerIdentity(3, 1);

    @TempDir
    Path directory;
    private SoftFabric fabric;
    private Device serverDevice;
    private Device clientDevice;
    private RaasContext server;
    private RaasContext client;
    private RpcServer memoryServer;
    private VirtualQp toMeta;
    private VirtualQp toMemory;
    private MetaClient meta;
    private MemoryNodeClient memory;
    private final List<Throwable> errors = new ArrayList<>();
    private final RecordingMetaService metaService = new RecordingMetaService();
    private final RecordingMemoryNodeService memoryService = new RecordingMemoryNodeService();

    @BeforeEach
    void open()
    {
        fabric = SoftFabric.open(new SoftFabricOptions().directory(directory));
        serverDevice = fabric.openDevice("server");
        clientDevice = fabric.openDevice("client");
        server = RaasContext.open(serverDevice, new RaasConfiguration().errorHandler(errors::add));
        client = RaasContext.open(clientDevice, new RaasConfiguration().identity(ME));
        server.serve(META_PORT, (caller, source) -> Admission.callsOnly(), new MetaDispatcher(metaService));
        memoryServer = server.serve(
            MEMORY_PORT, (caller, source) -> Admission.callsOnly(), new MemoryNodeDispatcher(memoryService));
        toMeta = client.connect(address(META_PORT), (vqp, cookie, status) -> {}, TIMEOUT_NS);
        toMemory = client.connect(address(MEMORY_PORT), (vqp, cookie, status) -> {}, TIMEOUT_NS);
        meta = new MetaClient(client, toMeta);
        memory = new MemoryNodeClient(client, toMemory);
    }

    @AfterEach
    void close()
    {
        client.close();
        server.close();
        clientDevice.close();
        serverDevice.close();
        fabric.close();
    }

    private PeerAddress address(final int port)
    {
        return new PeerAddress(serverDevice.address(), port, 1, 1);
    }

    private <T> ControlCall<T> await(final ControlCall<T> call)
    {
        while (!call.isDone())
        {
            client.poll();
            server.poll();
        }
        return call;
    }

    /** Whoever counts the errors of this node's code hears of it, and the call has ended. */
    @Test
    void shouldFailACallWhoseReplyCannotBeRead()
    {
        final ControlCall<Object> call = new ControlProxy(client, toMeta).call(ControlMethod.ALLOCATE_TABLE_ID,
            (buffer, offset) -> TableIdDescriptor.encode(0, buffer, offset), (buffer, offset, lengthBytes) ->
            {
                throw new ArithmeticException("planted");
            }, TIMEOUT_NS);
        assertThatThrownBy(() -> await(call)).isInstanceOf(ControlException.class)
            .hasCauseInstanceOf(ArithmeticException.class).hasMessageContaining("cannot be read");
        assertThat(call.status()).isEqualTo(ControlStatus.MALFORMED_REPLY);
        assertThat(call.failure()).contains("planted");
        assertThat(await(meta.allocateTableId(0, TIMEOUT_NS)).status()).isEqualTo(ControlStatus.OK);
    }

    @Test
    void shouldRegisterHeartbeatAndLeave()
    {
        final NodeRegistration request = new NodeRegistration(
            0, NodeRole.COMPUTE_NODE, clientDevice.address(), 0, new RemoteRegion(0, 0, 0));
        final long beforeNs = client.clock().nanoTime();
        final ControlCall<Registration> call = meta.register(request, TIMEOUT_NS);
        assertThat(call.isDone()).isFalse();
        assertThatThrownBy(call::result).isInstanceOf(IllegalStateException.class).hasMessageContaining("register");
        accept();
        assertThat(await(call).result()).isEqualTo(RecordingMetaService.REGISTRATION);
        assertThat(call.calledAtNs() - beforeNs).isNotNegative();
        assertThat(call.calledAtNs() - client.clock().nanoTime()).isNegative();
        assertThat(await(meta.heartbeat(7, 2, 41, false, HeldSecrets.NONE, TIMEOUT_NS)).result()).isEqualTo(
            new Heartbeat(42, 41, 3, 9, List.of(), List.of()));
        assertThat(await(meta.heartbeat(7, 2, 42, true, HeldSecrets.NONE, TIMEOUT_NS)).status())
            .isEqualTo(ControlStatus.OK);
        assertThat(await(meta.heartbeat(
            7, 2, 0, false, HeldSecrets.NONE, 6, List.of(new PeerIdentity(3, 4)), TIMEOUT_NS)).status())
            .isEqualTo(ControlStatus.OK);
        assertThat(await(meta.leave(7, 2, TIMEOUT_NS)).result()).isNull();
        assertThat(metaService.asked).containsExactly(
            "register " + request, "heartbeat 7 2 41", "heartbeat 7 2 42 wants epochs",
            "heartbeat 7 2 0 memory since 6 left [" + new PeerIdentity(3, 4) + "]", "leave 7 2");
    }

    private void accept()
    {
        while (metaService.registering == null)
        {
            client.poll();
            server.poll();
        }
        metaService.registering.accept(RecordingMetaService.REGISTRATION);
        assertThat(metaService.registering.give()).isTrue();
    }

    @Test
    void shouldSayWhenToRegisterAgain()
    {
        final NodeRegistration request = new NodeRegistration(
            0, NodeRole.COMPUTE_NODE, clientDevice.address(), 0, RemoteRegion.NONE);
        metaService.isFull = true;
        final ControlCall<Registration> refused = await(meta.register(request, TIMEOUT_NS));
        assertThat(refused.status()).isEqualTo(ControlStatus.UNAVAILABLE);
        assertThat(refused.failure()).contains("later");
        assertThat(refused.retryDelayNs()).isEqualTo(RecordingMetaService.RETRY_DELAY_NS);
        metaService.isFull = false;
        final ControlCall<Registration> late = meta.register(request, TIMEOUT_NS);
        while (metaService.registering == null)
        {
            client.poll();
            server.poll();
        }
        metaService.registering.refuse(new ControlException(ControlStatus.EXHAUSTED, "full", (1L << 32) * 1_000));
        assertThat(metaService.registering.give()).isTrue();
        assertThat(await(late).status()).isEqualTo(ControlStatus.EXHAUSTED);
        assertThat(late.retryDelayNs()).as("cut, not wrapped").isGreaterThan(RecordingMetaService.RETRY_DELAY_NS);
        assertThat(await(meta.heartbeat(7, 2, 41, false, HeldSecrets.NONE, TIMEOUT_NS)).status())
            .as("a refused one gives no identity").isEqualTo(ControlStatus.FORBIDDEN);
    }

    @Test
    void shouldTellOfNewsWhenThereAreSome()
    {
        final ControlCall<Registration> call = meta.register(new NodeRegistration(
            0, NodeRole.COMPUTE_NODE, clientDevice.address(), 0, RemoteRegion.NONE), TIMEOUT_NS);
        accept();
        await(call);
        metaService.asked.clear();
        final ControlCall<Void> news = meta.awaitChange(new NotificationRequest(7, 2, 42, 3), TIMEOUT_NS);
        await(meta.heartbeat(7, 2, 41, false, HeldSecrets.NONE, TIMEOUT_NS));
        assertThat(news.isDone()).as("told when there are some").isFalse();
        assertThat(metaService.asked).containsExactly(
            "NotificationRequest[nodeId=7, incarnation=2, epoch=42, membershipVersion=3]", "heartbeat 7 2 41");
        final PendingNotification answer = metaService.awaited.getFirst();
        assertThat(answer.isOver()).isFalse();
        assertThat(answer.give()).isTrue();
        assertThat(await(news).status()).isEqualTo(ControlStatus.OK);
        assertThat(answer.isOver()).isTrue();
    }

    @Test
    void shouldManageTables()
    {
        assertThat(await(meta.allocateTableId(0x10203, TIMEOUT_NS)).result()).isEqualTo(1);
        final TableEntry table = new TableEntry("users", 1, new byte[TableEntry.MAX_DESCRIPTOR_BYTES]);
        final List<PeerIdentity> memory = List.of(new PeerIdentity(7, 8), new PeerIdentity(9, 1 << 30));
        assertThat(await(meta.createTable(table, memory, 7, TIMEOUT_NS)).status()).isEqualTo(ControlStatus.OK);
        assertThat(metaService.asked).contains("number for 66051", "create users on " + memory + " for 7");
        final ControlCall<Void> again = await(meta.createTable(table, memory, 0, TIMEOUT_NS));
        assertThat(again.status()).isEqualTo(ControlStatus.TABLE_EXISTS);
        assertThat(again.failure()).isEqualTo("createTable: table users exists");
        assertThatThrownBy(again::result).isInstanceOf(ControlException.class)
            .hasMessage("createTable: table users exists")
            .satisfies(ex -> assertThat(((ControlException)ex).status()).isEqualTo(ControlStatus.TABLE_EXISTS));
        assertThat(await(meta.table("users", TIMEOUT_NS)).result().descriptor()).hasSize(3584);
        assertThat(await(meta.table("nobody", TIMEOUT_NS)).status()).isEqualTo(ControlStatus.NO_SUCH_TABLE);
        assertThat(await(meta.tables("", TIMEOUT_NS)).result()).isEqualTo(new TablePage(List.of("users"), false));
        assertThat(await(meta.growTable(new TableEntry("users", 1, new byte[8]), 77, memory, TIMEOUT_NS)).status())
            .isEqualTo(ControlStatus.OK);
        assertThat(metaService.asked).contains("grow users from 77 on " + memory);
        assertThat(await(meta.table("users", TIMEOUT_NS)).result().descriptor()).hasSize(8);
        assertThat(await(meta.dropThisTable(new TableEntry("users", 2, new byte[0]), TIMEOUT_NS)).status())
            .isEqualTo(ControlStatus.NO_SUCH_TABLE);
        assertThat(await(meta.dropTable("users", TIMEOUT_NS)).result().tableId()).isEqualTo(1);
        assertThat(await(meta.tables("", TIMEOUT_NS)).result().names()).isEmpty();
    }

    @Test
    void shouldForgetANode()
    {
        assertThat(await(meta.forgetNode(7, true, TIMEOUT_NS)).result())
            .isEqualTo(new ForgottenNode(7, 9, 1L << 40, true));
        assertThat(await(meta.forgetNode(7, false, TIMEOUT_NS)).result().isForgotten()).isFalse();
        assertThat(metaService.asked).containsExactly("forget 7 true", "forget 7 false");
    }

    @Test
    void shouldListNodesPageByPage()
    {
        final List<PeerRecord> all = new ArrayList<>();
        for (int i = 1; i <= 70; i++)
        {
            all.add(new PeerRecord(
                i, 1, 2, NodeRole.MEMORY_NODE, new DeviceAddress(1, i), 4000, new RemoteRegion(i, 1, i)));
        }
        metaService.nodes.addAll(all);
        final List<PeerRecord> seen = new ArrayList<>();
        NodePage page;
        do
        {
            page = await(meta.nodes(seen.isEmpty() ? 0 : seen.getLast().nodeId(), TIMEOUT_NS)).result();
            seen.addAll(page.nodes());
        }
        while (page.hasMore());
        assertThat(seen).isEqualTo(all);
    }

    @Test
    void shouldLeaseReturnFenceAndTellTheState()
    {
        final ChunkLease lease = await(memory.leaseChunks(7, ChunkPurpose.INDEX, 4, true, TIMEOUT_NS)).result();
        assertThat(lease).isEqualTo(new ChunkLease(65_536, 9, List.of(new ChunkRun(0, 4))));
        assertThat(await(memory.leaseChunks(7, ChunkPurpose.BLOCKS, 99, false, TIMEOUT_NS)).status())
            .isEqualTo(ControlStatus.EXHAUSTED);
        await(memory.returnChunks(lease.runs(), lease.newestLease(), TIMEOUT_NS)).result();
        await(memory.fence(new PeerIdentity(5, 6), TIMEOUT_NS)).result();
        assertThat(await(memory.stat(TIMEOUT_NS)).result()).isEqualTo(new MemoryNodeStat(1, 2, 3, 4, 5, 6, 7));
        assertThat(memoryService.asked).containsExactly(
            "lease 7 by node 3 incarnation 1 INDEX 4 true",
            "lease 7 by node 3 incarnation 1 BLOCKS 99 false",
            "return by node 3 incarnation 1 [ChunkRun[offset=0, chunkCount=4]] of leases up to 9",
            "fence by node 3 incarnation 1 of node 5 incarnation 6");
    }

    @Test
    void shouldAskForStepsOfMirroredLeases()
    {
        final MirroredChunk chunk = new MirroredChunk(2, 3, 4, 65_536, 5);
        final MirrorAnswer answer =
            await(memory.mirrorChunk(MirrorAction.RECORD, chunk, ChunkPurpose.INDEX, 6, TIMEOUT_NS)).result();
        assertThat(answer).isEqualTo(new MirrorAnswer(MirrorAnswer.Outcome.TAKEN, 5, 1L << 40));
        assertThat(memoryService.asked).containsExactly(
            "RECORD lease 5 of chunk 4 by group 2 in view 3 by node 3 incarnation 1 INDEX 6");
    }

    @Test
    void shouldCloseNameAndReconcileViewsAtAMemoryNode()
    {
        final View view = View.first(7, List.of(new PeerIdentity(1, 4), new PeerIdentity(2, 5)))
            .closing(2, new PeerIdentity(3, 6));
        assertThat(await(memory.closeView(view, TIMEOUT_NS)).status()).isEqualTo(ControlStatus.OK);
        assertThat(await(memory.fillView(view, TIMEOUT_NS)).status()).isEqualTo(ControlStatus.OK);
        final List<LeftView> left = List.of(new LeftView(7, 1), new LeftView(9, 1L << 40));
        assertThat(await(memory.nameViews(left, TIMEOUT_NS)).result()).containsExactly(left.getFirst());
        final ViewAttempt attempt = ViewAttempt.of(view);
        assertThat(await(memory.reconcilerKey(attempt, TIMEOUT_NS)).result())
            .isEqualTo(new RemoteRegion(1L << 40, 1L << 33, 77));
        assertThat(memoryService.asked).containsExactly("close by node 3 incarnation 1 of " + view,
            "fill by node 3 incarnation 1 in " + view,
            "left by node 3 incarnation 1: " + left, "key for node 3 incarnation 1 and " + attempt);
    }

    @Test
    void shouldBringLeasesOfAGroupToAMemoryNodeThatComesIn()
    {
        final ViewAttempt attempt = new ViewAttempt(7, 4, 2);
        final EnteredLease lease = new EnteredLease(new MirroredChunk(7, 3, 4, 65_536, 5), EnteredLease.BLOCKS, 6,
            new PeerIdentity(8, 80), null);
        assertThat(await(memory.releaseLeases(attempt, TIMEOUT_NS)).status()).isEqualTo(ControlStatus.OK);
        assertThat(await(memory.enterLease(attempt, lease, TIMEOUT_NS)).status()).isEqualTo(ControlStatus.OK);
        assertThat(memoryService.asked).containsExactly("release by node 3 incarnation 1 for " + attempt,
            "enter by node 3 incarnation 1 for " + attempt + ": " + lease);
        final ControlCall<Void> another = await(memory.enterLease(new ViewAttempt(8, 4, 2), lease, TIMEOUT_NS));
        assertThat(another.status()).isEqualTo(ControlStatus.INVALID_REQUEST);
        assertThat(another.failure()).startsWith("enterLease: ").contains("is not of the group of");
        assertThat(memoryService.asked).hasSize(2);
    }

    /** As many as one message has, a last page that is short, and a single byte. */
    @Test
    void shouldGiveChecksumsOfPages()
    {
        final long offset = 5L * 4_096;
        for (final int lengthBytes : new int[]{512 << 10, 3 * 4_096 + 1, 2 * 4_096, 1})
        {
            final long[] checksums = await(memory.pageChecksums(offset, lengthBytes, -7, TIMEOUT_NS)).result();
            assertThat(checksums).hasSize(2 * ((lengthBytes + 4_095) / 4_096));
            for (int page = 0; page < checksums.length / 2; page++)
            {
                assertThat(checksums[2 * page]).isEqualTo(5 + page);
                assertThat(checksums[2 * page + 1]).isEqualTo(~(5L + page));
            }
            assertThat(memoryService.asked).last().isEqualTo(
                "checksums by node 3 incarnation 1 of " + lengthBytes + " bytes at " + offset + " with -7");
        }
        final int asked = memoryService.asked.size();
        final ControlCall<long[]> outside = await(memory.pageChecksums(1L << 40, 1, 0, TIMEOUT_NS));
        assertThat(outside.status()).isEqualTo(ControlStatus.INVALID_REQUEST);
        assertThat(memoryService.asked).hasSize(asked + 1);
        final ControlCall<long[]> unaligned = await(memory.pageChecksums(4_095, 1, 0, TIMEOUT_NS));
        assertThat(unaligned.status()).isEqualTo(ControlStatus.INVALID_REQUEST);
        assertThat(unaligned.failure()).startsWith("pageChecksums: ").endsWith("not at offset=4095");
        assertThat(memoryService.asked).as("nobody is asked").hasSize(asked + 1);
    }

    @Test
    void shouldReportAndReadViewsPageByPage()
    {
        for (int group = 1; group <= 200; group++)
        {
            metaService.views.add(View.first(group, List.of(new PeerIdentity(1, 4), new PeerIdentity(2, 5))));
        }
        final List<View> read = new ArrayList<>();
        ViewPage page;
        do
        {
            page = await(meta.views(List.of(new LeftView(7, 1)), read.isEmpty() ? 0 : read.getLast().group(),
                TIMEOUT_NS)).result();
            assertThat(page.views()).isNotEmpty();
            read.addAll(page.views());
        }
        while (page.hasMore());
        assertThat(read).isEqualTo(metaService.views);
        final ViewAttempt attempt = new ViewAttempt(7, 1, 2);
        assertThat(await(meta.reportReconciled(attempt, true, TIMEOUT_NS)).status()).isEqualTo(ControlStatus.OK);
        assertThat(await(meta.reportReconciled(attempt, false, TIMEOUT_NS)).status()).isEqualTo(ControlStatus.OK);
        assertThat(metaService.asked).contains("views behind 0 by node 3 incarnation 1, left " +
            List.of(new LeftView(7, 1)), attempt + " equal=true by node 3 incarnation 1",
            attempt + " equal=false by node 3 incarnation 1");
        assertThat(await(meta.makeGroup(List.of(5, 6, 4), TIMEOUT_NS)).result().members())
            .extracting(PeerIdentity::nodeId).containsExactly(5, 6, 4);
        final View entering = await(meta.enterGroup(7, 9, TIMEOUT_NS)).result();
        assertThat(entering.group()).isEqualTo(7);
        assertThat(entering.entering().nodeId()).isEqualTo(9);
        final FillProgress progress = await(meta.fills(TIMEOUT_NS)).result().getFirst();
        assertThat(progress.secondsLeft()).isEqualTo(5);
        assertThat(await(meta.reportFill(progress, TIMEOUT_NS)).status()).isEqualTo(ControlStatus.OK);
        assertThat(metaService.asked).contains(progress + " by node 3 incarnation 1");
    }

    @Test
    void shouldReportWhatIsRestoredByTheMemoryNodeItselfOnly()
    {
        final List<RestoredGroup> restored = List.of(new RestoredGroup(7, 1, 2, 3, true));
        assertThat(await(meta.reportRestored(new PeerIdentity(3, 1), restored, TIMEOUT_NS)).status())
            .isEqualTo(ControlStatus.OK);
        assertThat(metaService.asked).contains(restored + " restored by node 3 incarnation 1");
        assertThat(await(meta.reportRestored(new PeerIdentity(4, 1), restored, TIMEOUT_NS)).status())
            .isEqualTo(ControlStatus.FORBIDDEN);
    }

    @Test
    void shouldListFailureDomainsPageByPage()
    {
        metaService.mayChangeTables = false;
        for (int i = 1; i <= 100; i++)
        {
            metaService.domains.add(new FailureDomain(3 * i, "rack-" + i % 7));
        }
        final List<FailureDomain> read = new ArrayList<>();
        FailureDomainPage page;
        do
        {
            page = await(meta.failureDomains(read.isEmpty() ? 0 : read.getLast().nodeId(), TIMEOUT_NS)).result();
            assertThat(page.domains()).hasSizeLessThanOrEqualTo(60);
            read.addAll(page.domains());
        }
        while (page.hasMore());
        assertThat(read).isEqualTo(metaService.domains);
    }

    /** As a command does, to print them. */
    @Test
    void shouldGiveViewsToWhoHasLeftNone()
    {
        metaService.mayChangeTables = false;
        metaService.views.add(View.first(1, List.of(new PeerIdentity(1, 4), new PeerIdentity(2, 5))));
        assertThat(await(meta.views(List.of(), 0, TIMEOUT_NS)).result().views()).isEqualTo(metaService.views);
        assertThat(await(meta.views(List.of(new LeftView(1, 1)), 0, TIMEOUT_NS)).failure())
            .contains("acts for no compute node with a lease");
        assertThat(await(meta.makeGroup(List.of(1, 2), TIMEOUT_NS)).failure())
            .contains("acts for no compute node with a lease");
        final FillProgress fill = await(meta.fills(TIMEOUT_NS)).result().getFirst();
        assertThat(await(meta.reportFill(fill, TIMEOUT_NS)).failure()).contains("no compute node with a lease");
        assertThat(metaService.asked).singleElement().asString().startsWith("views behind 0 by ").endsWith("left []");
    }

    @Test
    void shouldClaimAndAdoptChunks()
    {
        final List<ChunkRun> runs = List.of(new ChunkRun(4096, 2), new ChunkRun(1 << 20, 1));
        assertThat(await(memory.claimChunks(runs, TIMEOUT_NS)).result()).containsExactly(runs.getFirst());
        await(memory.adoptChunks(runs, TIMEOUT_NS)).result();
        assertThat(memoryService.asked).containsExactly(
            "claim by node 3 incarnation 1 " + runs, "adopt by node 3 incarnation 1 " + runs);
    }

    @Test
    void shouldFailAtOnceWhenTheRequestItselfIsWrong()
    {
        final ControlCall<TableEntry> call = meta.table("n".repeat(300), TIMEOUT_NS);
        assertThat(call.isDone()).isTrue();
        assertThat(call.status()).isEqualTo(ControlStatus.INVALID_REQUEST);
        assertThat(call.failure()).contains("300");
    }

    @Test
    void shouldBeRefusedByNameWhenItIsTheWrongKindOfNode()
    {
        final ControlCall<MemoryNodeStat> call = await(new MemoryNodeClient(client, toMeta).stat(TIMEOUT_NS));
        assertThat(call.status()).isEqualTo(ControlStatus.REFUSED);
        assertThat(call.failure()).contains("this meta server does not know method 104 (stat)");
    }

    @Test
    void shouldRefuseAnUnknownVersionByName()
    {
        final UnsafeBuffer request = new UnsafeBuffer(new byte[8]);
        request.putShort(0, (short)9);
        final String[] text = new String[1];
        client.rpcClient().call(toMeta, ControlMethod.TABLES, request, 0, 8, TIMEOUT_NS,
            (callId, status, payload, offset, length) ->
                text[0] = status + " " + payload.getStringWithoutLengthUtf8(offset, length));
        while (text[0] == null)
        {
            client.poll();
            server.poll();
        }
        assertThat(text[0]).startsWith("REFUSED this meta server knows version 2").contains("version 9");
    }

    @Test
    void shouldAnswerATruncatedRequestWithInvalidRequest()
    {
        final UnsafeBuffer request = new UnsafeBuffer(new byte[12]);
        request.putShort(0, (short)2);
        final ControlStatus[] answer = new ControlStatus[1];
        client.rpcClient().call(toMeta, ControlMethod.HEARTBEAT, request, 0, 12, TIMEOUT_NS,
            (callId, status, payload, offset, length) -> answer[0] = ControlHeaderDescriptor.status(payload, offset));
        while (answer[0] == null)
        {
            client.poll();
            server.poll();
        }
        assertThat(answer[0]).isEqualTo(ControlStatus.INVALID_REQUEST);
        assertThat(metaService.asked).isEmpty();
    }

    @Test
    void shouldReportAServiceThatBreaksAndRefuseTheCaller()
    {
        metaService.isBroken = true;
        final ControlCall<Integer> call = await(meta.allocateTableId(0, TIMEOUT_NS));
        assertThat(call.status()).isEqualTo(ControlStatus.REFUSED);
        assertThat(call.failure()).contains("disk on fire");
        assertThat(errors).singleElement().satisfies(error -> assertThat(error).hasMessage("disk on fire"));
    }

    @Test
    void shouldTimeOutWhenTheServerSleepsAndFailWhenItIsGone()
    {
        await(meta.allocateTableId(0, TIMEOUT_NS));
        final ControlCall<Integer> late = meta.allocateTableId(0, 1_000_000);
        while (!late.isDone())
        {
            client.poll();
        }
        assertThat(late.status()).isEqualTo(ControlStatus.TIMED_OUT);
        assertThatThrownBy(late::result).hasMessageContaining("no reply in time");

        await(memory.stat(TIMEOUT_NS));
        memoryServer.close();
        assertThat(await(memory.stat(TIMEOUT_NS)).status()).isEqualTo(ControlStatus.PEER_FAILED);
        final ControlCall<MemoryNodeStat> atOnce = memory.stat(TIMEOUT_NS);
        assertThat(atOnce.isDone()).isTrue();
        assertThat(atOnce.failure()).contains("node 1 incarnation 1");
    }

    @Test
    void shouldSayUnavailableWhenTooManyCallsAreOutstanding()
    {
        final List<ControlCall<Integer>> calls = new ArrayList<>();
        for (int i = 0; i < 65; i++)
        {
            calls.add(meta.allocateTableId(0, TIMEOUT_NS));
        }
        assertThat(calls.getLast().status()).isEqualTo(ControlStatus.UNAVAILABLE);
        assertThat(calls.getLast().failure()).contains("64");
        for (int i = 0; i < 64; i++)
        {
            assertThat(await(calls.get(i)).result()).isEqualTo(i + 1);
        }
    }
}
