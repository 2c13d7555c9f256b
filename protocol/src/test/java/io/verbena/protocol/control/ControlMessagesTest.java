package io.verbena.protocol.control;

import io.verbena.protocol.message.AdmissionToken;
import io.verbena.protocol.message.ChunkLease;
import io.verbena.protocol.message.ChunkPurpose;
import io.verbena.protocol.message.ChunkRun;
import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.ForgottenNode;
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
import io.verbena.protocol.message.RegistrationSecret;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.message.TablePage;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.RpcClient;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerRecord;
import io.verbena.raas.directory.TcpAddress;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.test.FormatPage;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.Collections;
import java.util.List;
import java.util.function.ToIntFunction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class ControlMessagesTest
{
    private static final IdentitySecret SECRET = IdentitySecret.read(
        new UnsafeBuffer(new byte[]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}), 0);
    private static final IdentitySecret BEFORE = IdentitySecret.read(
        new UnsafeBuffer(new byte[]{-16, -15, -14, -13, -12, -11, -10, -9, -8, -7, -6, -5, -4, -3, -2, -1}), 0);
    private static final String HEADER = "02000000" + "00000000";
    private static final int AT = 8;

    private final MutableDirectBuffer buffer = new ExpandableArrayBuffer(2 * RpcClient.MAX_MESSAGE_BYTES);

    private String hex(final ToIntFunction<MutableDirectBuffer> encoder)
    {
        // What was there before must not show through.
        buffer.setMemory(0, 512, (byte)0xEE);
        final int length = encoder.applyAsInt(buffer);
        final byte[] bytes = new byte[length];
        buffer.getBytes(AT, bytes);
        return HexFormat.of().formatHex(bytes);
    }

    @Test
    void shouldWriteTheseBytesForRegister()
    {
        final NodeRegistration request = new NodeRegistration(
            3,
            NodeRole.COMPUTE_NODE,
            new DeviceAddress(0x0102030405060708L, 0x1112131415161718L, 0x2122232425262728L),
            4000,
            new RemoteRegion(0x1000, 0x2000, 0xDEAD_BEEF),
            0x3132333435363738L,
            0x4142434445464748L,
            new ReadTargetAddress(0x0123_4567, 0x5152535455565758L),
            new TcpAddress(0x6162636465666768L, 0x7172737475767778L, 6_379));
        assertThat(hex(to -> RegisterDescriptor.encodeRequest(request, to, AT))).isEqualTo(
            HEADER + "0300000003000000" + "0807060504030201" + "1817161514131211" +
            "0010000000000000" + "0020000000000000" + "efbeadde" + "a00f0000" + "2827262524232221" +
            "3837363534333231" + "4847464544434241" + "67452301eb180000" + "5857565554535251" +
            "6867666564636261" + "7877767574737271");
        assertThat(RegisterDescriptor.decodeRequest(buffer, AT, 112)).isEqualTo(request);
        assertThatThrownBy(() -> RegisterDescriptor.decodeRequest(buffer, AT, 111))
            .isInstanceOf(ControlException.class).hasMessageContaining("of 111 bytes, needs 112");
        final Registration reply = new Registration(
            3, 9, 0xFFFF, 100, 97, 12, 5_000_000_000L, 0x0102, new RegistrationSecret(4, SECRET, BEFORE),
            List.of(), List.of(new PeerIdentity(7, 8)));
        assertThat(hex(to -> RegisterDescriptor.encodeReply(reply, to, AT))).isEqualTo(
            HEADER + "0300000009000000" + "6400000000000000" + "6100000000000000" + "0c00000000000000" +
            "00f2052a01000000" + "ffff000000000000" + "0201000000000000" +
            "0400000000000000" + "000102030405060708090a0b0c0d0e0f" + "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff" +
            "0000000000000000" + "0100000000000000" + "0700000008000000");
        assertThat(RegisterDescriptor.decodeReply(buffer, AT, 128)).isEqualTo(reply);
        buffer.putInt(AT + 64, 0);
        assertThatThrownBy(() -> RegisterDescriptor.decodeReply(buffer, AT, 128))
            .isInstanceOf(ControlException.class).hasMessageContaining("without a secret");
    }

    @Test
    void shouldTakeARegisterOfABuildThatKnowsNoTcpAddress()
    {
        final NodeRegistration request = new NodeRegistration(
            3, NodeRole.COMPUTE_NODE, new DeviceAddress(1, 2, 3), 4000, new RemoteRegion(0, 0, 0));
        RegisterDescriptor.encodeRequest(request, buffer, AT);
        buffer.setMemory(AT + 96, 16, (byte)0xFF); // what lies behind the message
        assertThat(RegisterDescriptor.decodeRequest(buffer, AT, 96)).isEqualTo(request);
        assertThatThrownBy(() -> RegisterDescriptor.decodeRequest(buffer, AT, 95)).isInstanceOf(ControlException.class);
    }

    /** One without is as it always was. */
    @Test
    void shouldWriteAFailureDomainBehindTheOtherBytesOfARegister()
    {
        final NodeRegistration alone = new NodeRegistration(
            3, NodeRole.MEMORY_NODE, new DeviceAddress(1, 2, 3), 4000, new RemoteRegion(1, 2, 3));
        final String without = hex(to -> RegisterDescriptor.encodeRequest(alone, to, AT));
        assertThat(without).hasSize(2 * 112);
        final NodeRegistration inRack = alone.inFailureDomain("rack-1");
        assertThat(hex(to -> RegisterDescriptor.encodeRequest(inRack, to, AT)))
            .isEqualTo(without + "06" + "7261636b2d31" + "00".repeat(57));
        assertThat(RegisterDescriptor.decodeRequest(buffer, AT, 176)).isEqualTo(inRack);
        assertThat(RegisterDescriptor.decodeRequest(buffer, AT, 112)).isEqualTo(alone);
        assertThatThrownBy(() -> RegisterDescriptor.decodeRequest(buffer, AT, 175))
            .isInstanceOf(ControlException.class).hasMessageContaining("of 175 bytes, needs 176");
        buffer.putByte(AT + 113, (byte)'-');
        assertThatThrownBy(() -> RegisterDescriptor.decodeRequest(buffer, AT, 176))
            .isInstanceOf(ControlException.class).hasMessageContaining("no label of a failure domain");
    }

    @Test
    void shouldWriteTheseBytesForHeartbeatAndIdentity()
    {
        assertThat(hex(to -> HeartbeatDescriptor.encodeRequest(
            3, 9, 0x0102L, true, new HeldSecrets(6, 5, 8), 4, List.of(), to, AT))).isEqualTo(HEADER +
            "0300000009000000" + "0201000000000000" + "0100000008000000" + "0600000005000000" + "0400000000000000");
        assertThat(HeartbeatDescriptor.left(buffer, AT, 48)).isEmpty();
        assertThat(HeartbeatDescriptor.memorySince(buffer, AT)).isEqualTo(4);
        assertThat(HeartbeatDescriptor.held(buffer, AT)).isEqualTo(new HeldSecrets(6, 5, 8));
        assertThat(HeartbeatDescriptor.wantsEpochs(buffer, AT)).isTrue();
        final Heartbeat reply = new Heartbeat(100, 97, 12, 1, List.of(new AdmissionToken(5, 6, 3, SECRET)),
            List.of(new PeerIdentity(7, 8)), new RegistrationSecret(4, BEFORE, SECRET), List.of());
        assertThat(hex(to -> HeartbeatDescriptor.encodeReply(reply, to, AT))).isEqualTo(
            HEADER + "6400000000000000" + "6100000000000000" + "0c00000000000000" + "0100000000000000" +
            "0400000000000000" + "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff" + "000102030405060708090a0b0c0d0e0f" +
            "0100000003000000" + "0500000006000000" + "000102030405060708090a0b0c0d0e0f" +
            "0100000000000000" + "0700000008000000");
        assertThat(HeartbeatDescriptor.decodeReply(buffer, AT, 88 + 24 + 16)).isEqualTo(reply);
        shouldWriteTheseBytesForMemoryNodesThatAreLeft(reply);
        final NotificationRequest news = new NotificationRequest(3, 9, 0x0102L, 0x0304L);
        assertThat(hex(to -> NotificationDescriptor.encode(news, to, AT))).isEqualTo(
            HEADER + "0300000009000000" + "0201000000000000" + "0403000000000000");
        assertThat(NotificationDescriptor.decode(buffer, AT, 32)).isEqualTo(news);
        final PeerIdentity identity = new PeerIdentity(65_535, 2);
        assertThat(hex(to -> IdentityDescriptor.encode(identity, to, AT))).isEqualTo(HEADER + "ffff000002000000");
        assertThat(IdentityDescriptor.decode(buffer, AT, 16)).isEqualTo(identity);
    }

    private void shouldWriteTheseBytesForMemoryNodesThatAreLeft(final Heartbeat without)
    {
        final List<PeerIdentity> nodes = List.of(new PeerIdentity(10, 11), new PeerIdentity(12, 13));
        final String bytes = "0200000000000000" + "0a0000000b000000" + "0c0000000d000000";
        assertThat(hex(to -> HeartbeatDescriptor.encodeRequest(
            3, 9, 0, false, HeldSecrets.NONE, 0, nodes, to, AT))).endsWith(bytes).hasSize(2 * (48 + 24));
        assertThat(HeartbeatDescriptor.left(buffer, AT, 48 + 24)).isEqualTo(nodes);
        assertThatThrownBy(() -> HeartbeatDescriptor.left(buffer, AT, 48 + 23)).isInstanceOf(ControlException.class);
        final Heartbeat reply = new Heartbeat(100, 97, 12, 1, without.tokens(), without.spares(), without.renewed(),
            nodes);
        assertThat(hex(to -> HeartbeatDescriptor.encodeReply(reply, to, AT))).endsWith(bytes);
        assertThat(HeartbeatDescriptor.decodeReply(buffer, AT, 88 + 24 + 16 + 24)).isEqualTo(reply);
        final List<AdmissionToken> tokens = Collections.nCopies(160, new AdmissionToken(1, 1, 1, SECRET));
        final List<PeerIdentity> most = Collections.nCopies(MetaService.MAX_TO_LEAVE, new PeerIdentity(1, 1));
        assertThat(HeartbeatDescriptor.encodeReply(
            new Heartbeat(1, 1, 1, 1, tokens, List.of(), without.renewed(), most), new UnsafeBuffer(new byte[4096]), 0))
            .as("fits in a message").isLessThanOrEqualTo(4096);
    }

    @Test
    void shouldWriteTheseBytesForAForgottenNode()
    {
        assertThat(hex(to -> ForgetNodeDescriptor.encodeRequest(0x0102, true, to, AT)))
            .isEqualTo(HEADER + "0201000001000000");
        assertThat(ForgetNodeDescriptor.nodeId(buffer, AT)).isEqualTo(0x0102);
        assertThat(ForgetNodeDescriptor.isWanted(buffer, AT)).isTrue();
        final ForgottenNode node = new ForgottenNode(3, 9, 1L << 40, true);
        assertThat(hex(to -> ForgetNodeDescriptor.encodeReply(node, to, AT)))
            .isEqualTo(HEADER + "0300000009000000" + "0000000000010000" + "0100000000000000");
        assertThat(ForgetNodeDescriptor.decodeReply(buffer, AT, 32)).isEqualTo(node);
        refuseTruncations(
            ForgetNodeDescriptor.encodeReply(node, buffer, 0), ForgetNodeDescriptor::decodeReply);
        assertThatThrownBy(() -> ForgetNodeDescriptor.requireRequest(15)).isInstanceOf(ControlException.class);
    }

    @Test
    void shouldWriteTheseBytesForTables()
    {
        assertThat(hex(to -> TableIdDescriptor.encode(5, to, AT))).isEqualTo(HEADER + "0500000000000000");
        assertThat(TableIdDescriptor.decode(buffer, AT, 16)).isEqualTo(5);
        final TableEntry table = new TableEntry("tä", 5, new byte[]{1, 2});
        assertThat(hex(to -> TableEntryDescriptor.encode(table, to, AT))).isEqualTo(
            HEADER + "0500000003000000" + "0200000000000000" + "74c3a4" + "0102");
        final TableEntry decoded = TableEntryDescriptor.decode(buffer, AT, 29);
        assertThat(decoded.name()).isEqualTo("tä");
        assertThat(decoded.tableId()).isEqualTo(5);
        assertThat(decoded.descriptor()).containsExactly(1, 2);
        assertThat(hex(to -> TableNameDescriptor.encode("tä", to, AT)))
            .isEqualTo(HEADER + "0300000000000000" + "74c3a4");
        assertThat(TableNameDescriptor.decode(buffer, AT, 19)).isEqualTo("tä");
        final TablePage page = new TablePage(List.of("a", "bc"), true);
        assertThat(hex(to -> TablesDescriptor.encode(page, to, AT))).isEqualTo(
            HEADER + "0200010000000000" + "010061" + "02006263");
        assertThat(TablesDescriptor.decode(buffer, AT, 23)).isEqualTo(page);
    }

    @Test
    void shouldWriteTheseBytesForChunks()
    {
        assertThat(hex(to -> LeaseRequestDescriptor.encode(0x0A0B, ChunkPurpose.INDEX, 258, true, to, AT)))
            .isEqualTo(HEADER + "02010000" + "0200" + "0100" + "0b0a000000000000");
        assertThat(LeaseRequestDescriptor.requestId(buffer, AT)).isEqualTo(0x0A0B);
        assertThat(LeaseRequestDescriptor.purpose(buffer, AT)).isEqualTo(ChunkPurpose.INDEX);
        assertThat(LeaseRequestDescriptor.chunkCount(buffer, AT)).isEqualTo(258);
        assertThat(LeaseRequestDescriptor.isContiguous(buffer, AT)).isTrue();
        final List<ChunkRun> runs = List.of(new ChunkRun(1L << 32, 7));
        assertThat(hex(to -> ChunkRunsDescriptor.encode(65_536, 0x0C0D, runs, to, AT))).isEqualTo(
            HEADER + "00000100" + "01000000" + "0d0c000000000000" + "0000000001000000" + "0700000000000000");
        assertThat(ChunkRunsDescriptor.decode(buffer, AT, 40)).isEqualTo(new ChunkLease(65_536, 0x0C0D, runs));
        final MemoryNodeStat stat = new MemoryNodeStat(1L << 34, 1, 2, 3, 4, 5, 6);
        assertThat(hex(to -> StatDescriptor.encode(stat, to, AT))).isEqualTo(
            HEADER + "0000000004000000" + "0100000002000000" + "0300000004000000" + "0500000006000000");
        assertThat(StatDescriptor.decode(buffer, AT, 40)).isEqualTo(stat);
    }

    @Test
    void shouldCutPagesToWhatFitsAndSaySo()
    {
        final List<PeerRecord> nodes = new ArrayList<>();
        final List<String> names = new ArrayList<>();
        for (int i = 1; i <= 500; i++)
        {
            nodes.add(new PeerRecord(
                i, 1, 2, NodeRole.MEMORY_NODE, new DeviceAddress(1, i), 4000, new RemoteRegion(i, 1, i)));
            names.add("table-%03d".formatted(i));
        }
        int length = NodesDescriptor.encodeReply(new NodePage(8, nodes, false), buffer, AT);
        assertThat(length).isLessThanOrEqualTo(RpcClient.MAX_MESSAGE_BYTES);
        final NodePage page = NodesDescriptor.decodeReply(buffer, AT, length);
        assertThat(page.nodes()).isEqualTo(nodes.subList(0, 31));
        assertThat(page.hasMore()).isTrue();
        assertThat(page.membershipVersion()).isEqualTo(8);
        length = NodesDescriptor.encodeReply(new NodePage(8, nodes.subList(0, 31), false), buffer, AT);
        assertThat(NodesDescriptor.decodeReply(buffer, AT, length).hasMore()).isFalse();

        length = TablesDescriptor.encode(new TablePage(names, false), buffer, AT);
        assertThat(length).isLessThanOrEqualTo(RpcClient.MAX_MESSAGE_BYTES);
        final TablePage tables = TablesDescriptor.decode(buffer, AT, length);
        assertThat(tables.names()).isEqualTo(names.subList(0, tables.names().size())).hasSizeGreaterThan(300);
        assertThat(tables.hasMore()).isTrue();
    }

    @Test
    void shouldRefuseWhatDoesNotFitAMessage()
    {
        assertThatThrownBy(() -> TableEntryDescriptor.encode(new TableEntry("t", 1, new byte[3585]), buffer, AT))
            .isInstanceOf(ControlException.class).hasMessageContaining("3585").hasMessageContaining("3584");
        assertThatThrownBy(() -> TableNameDescriptor.encode("n".repeat(256), buffer, AT))
            .hasMessageContaining("1 to 255 bytes").hasMessageContaining("256");
        assertThatThrownBy(() -> TableEntryDescriptor.encode(new TableEntry("", 1, new byte[0]), buffer, AT))
            .hasMessageContaining("1 to 255 bytes");
        assertThatThrownBy(() -> TablePublicationDescriptor.encode(new TableEntry("t", 1, new byte[3584]), 0,
            java.util.Collections.nCopies(58, new PeerIdentity(1, 1)), 0, buffer, AT))
            .hasMessageContaining("room for 3583");
        final List<ChunkRun> runs = java.util.Collections.nCopies(255, new ChunkRun(0, 1));
        assertThatThrownBy(() -> ChunkRunsDescriptor.encode(0, 0, runs, buffer, AT))
            .hasMessageContaining("limit is 254");
    }

    @Test
    void shouldRefuseEveryTruncationAndNeverReadPastTheEnd()
    {
        final TableEntry table = new TableEntry("name", 5, new byte[]{1, 2, 3});
        refuseTruncations(TableEntryDescriptor.encode(table, buffer, 0), TableEntryDescriptor::decode);
        refuseTruncations(TableNameDescriptor.encode("name", buffer, 0), TableNameDescriptor::decode);
        refuseTruncations(
            TablesDescriptor.encode(new TablePage(List.of("a", "b"), false), buffer, 0), TablesDescriptor::decode);
        refuseTruncations(
            ChunkRunsDescriptor.encode(1, 1, List.of(new ChunkRun(0, 1)), buffer, 0), ChunkRunsDescriptor::decode);
        final PeerRecord record = new PeerRecord(
            1, 1, 2, NodeRole.MEMORY_NODE, new DeviceAddress(1, 1), 4000, new RemoteRegion(1, 1, 1));
        refuseTruncations(
            NodesDescriptor.encodeReply(new NodePage(1, List.of(record), false), buffer, 0),
            NodesDescriptor::decodeReply);
        refuseTruncations(
            NotificationDescriptor.encode(new NotificationRequest(1, 1, 1, 1), buffer, 0),
            NotificationDescriptor::decode);
        refuseTruncations(HeartbeatDescriptor.encodeReply(
            new Heartbeat(1, 1, 1, 1, List.of(new AdmissionToken(1, 1, 1, SECRET)), List.of(new PeerIdentity(1, 1))),
            buffer, 0),
            HeartbeatDescriptor::decodeReply);
        refuseTruncations(StatDescriptor.encode(new MemoryNodeStat(1, 1, 1, 1, 1, 1, 1), buffer, 0),
            StatDescriptor::decode);
        refuseTruncations(IdentityDescriptor.encode(new PeerIdentity(1, 1), buffer, 0), IdentityDescriptor::decode);
    }

    private void refuseTruncations(final int length, final ControlCall.ReplyDecoder<?> decoder)
    {
        final byte[] whole = new byte[length];
        buffer.getBytes(0, whole);
        for (int cut = 0; cut < length; cut++)
        {
            final UnsafeBuffer truncated = new UnsafeBuffer(java.util.Arrays.copyOf(whole, cut));
            final int cutLength = cut;
            assertThatThrownBy(() -> decoder.decode(truncated, 0, cutLength)).isInstanceOf(ControlException.class);
        }
        decoder.decode(new UnsafeBuffer(whole), 0, length);
    }

    @Test
    void shouldRefuseHostileCounts()
    {
        ChunkRunsDescriptor.encode(1, 1, List.of(), buffer, 0);
        buffer.putInt(ChunkRunsDescriptor.RUN_COUNT_OFFSET, -1);
        assertThatThrownBy(() -> ChunkRunsDescriptor.decode(buffer, 0, 4096)).hasMessageContaining("-1 runs");
        TableEntryDescriptor.encode(new TableEntry("n", 1, new byte[1]), buffer, 0);
        buffer.putInt(TableEntryDescriptor.DESCRIPTOR_LENGTH_OFFSET, Integer.MAX_VALUE);
        assertThatThrownBy(() -> TableEntryDescriptor.decode(buffer, 0, 4096)).hasMessageContaining("2147483647");
        TablePublicationDescriptor.encode(new TableEntry("n", 1, new byte[1]), 0, List.of(), 0, buffer, 0);
        for (final int count : new int[]{-1, 5, Integer.MAX_VALUE})
        {
            buffer.putInt(TablePublicationDescriptor.COUNT_OFFSET, count);
            assertThatThrownBy(() -> TablePublicationDescriptor.table(buffer, 0, 50))
                .isInstanceOf(ControlException.class).hasMessageContaining(count + " memory nodes");
        }
        LeaseRequestDescriptor.encode(1, ChunkPurpose.BLOCKS, 0, false, buffer, 0);
        assertThatThrownBy(() -> LeaseRequestDescriptor.chunkCount(buffer, 0)).hasMessageContaining("lease of 0");
        buffer.putShort(LeaseRequestDescriptor.PURPOSE_OFFSET, (short)9);
        assertThatThrownBy(() -> LeaseRequestDescriptor.purpose(buffer, 0))
            .hasMessageContaining("purpose of chunks: 9");
    }

    @Test
    void shouldReadWhatWasWrittenForMirroredChunks()
    {
        final MirroredChunk chunk = new MirroredChunk(65_535, 1L << 40, 7, 65_536, 1L << 41);
        assertThat(MirrorChunkDescriptor.encodeRequest(
            MirrorAction.RECORD, chunk, ChunkPurpose.INDEX, 0x0A0B, buffer, AT))
            .isEqualTo(MirrorChunkDescriptor.REQUEST_LENGTH_BYTES);
        assertThat(MirrorChunkDescriptor.action(buffer, AT)).isEqualTo(MirrorAction.RECORD);
        assertThat(MirrorChunkDescriptor.chunk(buffer, AT)).isEqualTo(chunk);
        assertThat(MirrorChunkDescriptor.purpose(buffer, AT)).isEqualTo(ChunkPurpose.INDEX);
        assertThat(MirrorChunkDescriptor.requestId(buffer, AT)).isEqualTo(0x0A0B);

        for (final MirrorAnswer.Outcome outcome : MirrorAnswer.Outcome.values())
        {
            final MirrorAnswer answer = new MirrorAnswer(outcome, -1, 3);
            final int length = MirrorChunkDescriptor.encodeReply(answer, buffer, AT);
            assertThat(MirrorChunkDescriptor.decodeReply(buffer, AT, length)).isEqualTo(answer);
        }
        for (final MirrorAction action : MirrorAction.values())
        {
            assertThat(MirrorAction.ofCode(action.code())).isEqualTo(action);
        }
    }

    @Test
    void shouldRefuseMirroredChunksThatMakeNoSense()
    {
        final MirroredChunk chunk = new MirroredChunk(1, 1, 0, 65_536, 1);
        for (final MirroredChunk wrong : List.of(
            new MirroredChunk(0, 1, 0, 65_536, 1), new MirroredChunk(65_536, 1, 0, 65_536, 1),
            new MirroredChunk(1, 0, 0, 65_536, 1), chunk.at(-1, 1), chunk.at(0, 0), chunk.at(0, -1),
            new MirroredChunk(1, 1L << 62, 0, 65_536, 1), chunk.at(0, 1L << 62), chunk.at(0, Long.MAX_VALUE)))
        {
            encodeMirror(MirrorAction.RECORD, wrong, 1);
            assertThatThrownBy(() -> MirrorChunkDescriptor.chunk(buffer, AT)).as("%s", wrong)
                .isInstanceOf(ControlException.class).hasMessageContaining("group must be 1 to 65535");
        }
        final MirroredChunk last = new MirroredChunk(1, MirroredChunk.MAX_VIEW, 0, 65_536, MirroredChunk.MAX_COUNT);
        encodeMirror(MirrorAction.RECORD, last, 1);
        assertThat(MirrorChunkDescriptor.chunk(buffer, AT)).isEqualTo(last);
        encodeMirror(MirrorAction.CHOOSE, chunk.at(0, 0), 0);
        assertThat(MirrorChunkDescriptor.chunk(buffer, AT)).isEqualTo(chunk.at(0, 0));
        encodeMirror(MirrorAction.RECORD, chunk, 0);
        assertThatThrownBy(() -> MirrorChunkDescriptor.requestId(buffer, AT)).hasMessageContaining("request id");
        buffer.putShort(AT + MirrorChunkDescriptor.ACTION_OFFSET, (short)7, java.nio.ByteOrder.LITTLE_ENDIAN);
        assertThatThrownBy(() -> MirrorChunkDescriptor.action(buffer, AT)).hasMessageContaining("action");
        buffer.putShort(AT + MirrorChunkDescriptor.PURPOSE_OFFSET, (short)0, java.nio.ByteOrder.LITTLE_ENDIAN);
        assertThatThrownBy(() -> MirrorChunkDescriptor.purpose(buffer, AT)).hasMessageContaining("purpose");
        assertThatThrownBy(() -> MirrorChunkDescriptor.requireRequest(47)).hasMessageContaining("needs 48");

        for (final MirrorAnswer wrong : List.of(
            new MirrorAnswer(MirrorAnswer.Outcome.DONE, -2, 0), new MirrorAnswer(MirrorAnswer.Outcome.DONE, 0, -1)))
        {
            MirrorChunkDescriptor.encodeReply(wrong, buffer, AT);
            assertThatThrownBy(() -> MirrorChunkDescriptor.decodeReply(buffer, AT, 24))
                .hasMessageContaining("mirrorChunk reply");
        }
    }

    private void encodeMirror(final MirrorAction action, final MirroredChunk chunk, final long requestId)
    {
        MirrorChunkDescriptor.encodeRequest(action, chunk, ChunkPurpose.BLOCKS, requestId, buffer, AT);
    }

    @Test
    void shouldDocumentEveryMessageMethodAndStatus() throws java.io.IOException
    {
        FormatPage.of("secret-messages.md").shouldAgreeWith(RegistrationSecretDescriptor.class);
        FormatPage.of("secret-messages.md").shouldAgreeWith(AdmissionTokensDescriptor.class);
        final FormatPage page = FormatPage.of("control-messages.md");
        for (final Class<?> descriptor : List.of(
            ControlHeaderDescriptor.class,
            RegisterDescriptor.class,
            HeartbeatDescriptor.class,
            SparesDescriptor.class,
            NotificationDescriptor.class,
            IdentityDescriptor.class,
            ForgetNodeDescriptor.class,
            NodesDescriptor.class,
            TableIdDescriptor.class,
            TableEntryDescriptor.class,
            TablePublicationDescriptor.class,
            TableNameDescriptor.class,
            TablesDescriptor.class,
            LeaseRequestDescriptor.class,
            ChunkRunsDescriptor.class,
            StatDescriptor.class))
        {
            page.shouldAgreeWith(descriptor);
        }
        FormatPage.of("left-memory-nodes.md").shouldAgreeWith(MemoryNodesDescriptor.class);
        FormatPage.of("mirror-chunk.md").shouldAgreeWith(MirrorChunkDescriptor.class);
        FormatPage.of("user.md").shouldAgreeWith(UsersDescriptor.class);
        FormatPage.of("user.md").shouldAgreeWith(DenialsDescriptor.class);
        final java.util.Map<String, Integer> expected = FormatPage.constants(ControlMethod.class);
        for (final ControlStatus status : ControlStatus.values())
        {
            if (ControlStatus.ofCode(status.code()) == status && status != ControlStatus.MALFORMED_REPLY)
            {
                expected.put(status.name(), status.code());
            }
        }
        assertThat(FormatPage.rows(page.text().split("\n## ")[0])).isEqualTo(expected);
        FormatPage.constants(ControlMethod.class)
            .forEach((name, method) -> assertThat(ControlMethod.name(method)).isNotEqualTo("unknown"));
    }
}
