package io.verbena.protocol.remote;

import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.CountPage;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.RecordPage;
import io.verbena.protocol.request.RequestExpiry;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.RequestLimits;
import io.verbena.protocol.request.TableReference;
import io.verbena.test.FormatPage;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.MutableDirectBuffer;
import org.junit.jupiter.api.Test;

import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToIntFunction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class KvMessagesTest
{
    private static final int AT = 8;

    private final MutableDirectBuffer buffer = new ExpandableArrayBuffer(8192);

    private String hex(final ToIntFunction<MutableDirectBuffer> encoder)
    {
        // What was there before must not show through.
        buffer.setMemory(0, 512, (byte)0xEE);
        final byte[] bytes = new byte[encoder.applyAsInt(buffer)];
        buffer.getBytes(AT, bytes);
        return HexFormat.of().formatHex(bytes);
    }

    private static RemoteRig.Control answered(
        final ControlRequest.Kind kind, final ControlRequest.Status status, final Object result, final String detail)
    {
        final RemoteRig.Control control = new RemoteRig.Control(kind, "t", 0, 0);
        control.answer(status, result, detail);
        return control;
    }

    @Test
    void shouldWriteTheseBytesForAnOperation()
    {
        final RemoteRig.Operation request =
            RemoteRig.operation(RequestKind.REPLACE, new byte[]{0x0A, 0x0B}, new byte[]{0x0C}, 0x0102, 0);
        request.askExpiry(0x0506);
        final byte[] name = "ü".getBytes(StandardCharsets.UTF_8);
        assertThat(hex(to -> OperationMessageDescriptor.encodeBody(
            request, OperationMessageDescriptor.encodeHead(request, name, 1_000_000_000L, 0, to, AT), to, AT)))
            .isEqualTo("0200" + "0500" + "07000000" + "00ca9a3b00000000" + "0201000000000000" + "0000000000000000" +
                "02000000" + "01000000" + "0200000000000000" + "0605000000000000" + "c3bc" + "0a0b" + "0c");
        final RemoteRig.Operation decoded = new RemoteRig.Operation();
        OperationMessageDescriptor.check(buffer, AT, 61);
        OperationMessageDescriptor.decode(buffer, AT, buffer, -1, new TableNames(), decoded, 77);
        assertThat(decoded.kind()).isEqualTo(RequestKind.REPLACE);
        assertThat(decoded.table()).isEqualTo(new TableReference("ü", 7));
        assertThat(decoded.key()).containsExactly(0x0A, 0x0B);
        assertThat(decoded.value()).containsExactly(0x0C);
        assertThat(decoded.operand()).isEqualTo(0x0102);
        assertThat(decoded.expiry()).isEqualTo(0x0506);
        assertThat(decoded.deadlineNs()).isEqualTo(77);
        final RemoteRig.Operation get = RemoteRig.operation(RequestKind.GET, new byte[]{1}, null, 0, 0);
        assertThat(hex(to -> OperationMessageDescriptor.encodeHead(get, new byte[]{'t'}, 1, 3, to, AT)))
            .isEqualTo("0200" + "0100" + "07000000" + "0100000000000000" + "0000000000000000" + "0300000000000000" +
                "01000000" + "ffffffff" + "0100000000000000" + "0000000000000000" + "74");
    }

    @Test
    void shouldWriteTheseBytesForAnAnswer()
    {
        final RemoteRig.Operation request = new RemoteRig.Operation();
        request.answer(OperationAnswer.VERSION_MISMATCH, new byte[]{5, 6}, 0x0102, "no");
        request.answerExpiry(0x0708, 4);
        request.cost(1, 2, 3);
        assertThat(hex(to -> OperationReplyDescriptor.encode(request, 0, to, AT))).isEqualTo(
            "0200" + "0600" + "02000000" + "0201000000000000" + "0000000000000000" + "01000000" + "02000000" +
            "03000000" + "02000000" + "0807000000000000" + "0400000000000000" + "6e6f" + "0506");
        final RemoteRig.Operation decoded = new RemoteRig.Operation();
        OperationReplyDescriptor.check(buffer, AT, 60);
        OperationReplyDescriptor.decode(buffer, AT, null, decoded);
        assertThat(decoded.answer()).isEqualTo(OperationAnswer.VERSION_MISMATCH);
        assertThat(decoded.foundValue()).containsExactly(5, 6);
        assertThat(decoded.detail()).isEqualTo("no");
        assertThat(List.of(decoded.foundExpiryMs(), decoded.timeToLiveMs())).containsExactly(0x0708L, 4L);
        assertThat(List.of(decoded.verbCount(), decoded.roundTripCount(), decoded.doorbellCount()))
            .containsExactly(1, 2, 3);
        assertThat(hex(to -> OperationReplyDescriptor.encode(request, 9, to, AT)))
            .startsWith("0200060002000000" + "0201000000000000" + "0900000000000000").endsWith("6e6f");
    }

    @Test
    void shouldRefuseCodesThatItDoesNotKnow()
    {
        final RemoteRig.Operation get = RemoteRig.operation(RequestKind.GET, new byte[]{1}, null, 0, 0);
        final int length = OperationMessageDescriptor.encodeBody(get,
            OperationMessageDescriptor.encodeHead(get, new byte[]{'t'}, 1, 0, buffer, AT), buffer, AT);
        final RemoteRig.Operation found = new RemoteRig.Operation();
        for (final int code : new int[]{0, RequestKind.values().length + 1, 0xFFFF})
        {
            assertThat(RequestKind.ofCode(code)).isNull();
            buffer.putShort(AT + OperationMessageDescriptor.KIND_OFFSET, (short)code);
            assertThatThrownBy(() -> OperationMessageDescriptor.check(buffer, AT, length))
                .isInstanceOf(MalformedRequestException.class).hasMessageContaining("has code " + code);
        }
        found.answer(OperationAnswer.FOUND, null, 1, null);
        final int replyLength = OperationReplyDescriptor.encode(found, 0, buffer, AT);
        for (final int code : new int[]{0, OperationAnswer.values().length + 1, 0xFFFF})
        {
            assertThat(OperationAnswer.ofCode(code)).isNull();
            buffer.putShort(AT + OperationReplyDescriptor.ANSWER_OFFSET, (short)code);
            assertThatThrownBy(() -> OperationReplyDescriptor.check(buffer, AT, replyLength))
                .isInstanceOf(MalformedRequestException.class).hasMessageContaining("has code " + code);
        }
    }

    @Test
    void shouldRefuseADeadlineThatSaysNothing()
    {
        for (final RequestKind kind : RequestKind.values())
        {
            final RemoteRig.Operation request = RemoteRig.operation(kind, new byte[]{1}, switch (kind)
            {
                case PUT, PUT_IF_ABSENT, PUT_IF_PRESENT, REPLACE, APPEND -> new byte[]{2};
                default -> null;
            }, 0, 0);
            for (final long expiry : new long[]{1, RequestExpiry.KEEP, -RequestExpiry.MAX_MS, RequestExpiry.MAX_MS})
            {
                assertThat(RequestExpiry.isValid(expiry)).isTrue();
                assertThat(isTaken(request, expiry)).as(kind + " with " + expiry).isEqualTo(kind.takesExpiry());
            }
            for (final long expiry : new long[]{RequestExpiry.KEEP + 1, -RequestExpiry.MAX_MS - 1, Long.MAX_VALUE})
            {
                assertThat(RequestExpiry.isValid(expiry)).isFalse();
                assertThat(isTaken(request, expiry)).as(kind + " with " + expiry).isFalse();
            }
        }
        for (final long condition : new long[]{-1, RequestExpiry.IF_EARLIER + 1, 1L << 32})
        {
            assertThat(isTaken(RemoteRig.operation(RequestKind.EXPIRE, new byte[]{1}, null, condition, 0), 1))
                .isFalse();
        }
    }

    private boolean isTaken(final RemoteRig.Operation request, final long expiry)
    {
        request.askExpiry(expiry);
        final int length = OperationMessageDescriptor.encodeBody(request,
            OperationMessageDescriptor.encodeHead(request, new byte[]{'t'}, 1, 0, buffer, AT), buffer, AT);
        try
        {
            OperationMessageDescriptor.check(buffer, AT, length);
            return true;
        }
        catch (final MalformedRequestException ex)
        {
            assertThat(ex).hasMessageContaining("expiry");
            return false;
        }
    }

    @Test
    void shouldWriteTheseBytesForPartsAndTables()
    {
        assertThat(hex(to -> TransferDescriptor.encode(0x0102, 100, 50, 25, to, AT))).isEqualTo(
            "01000000" + "64000000" + "0201000000000000" + "32000000" + "19000000");
        assertThat(hex(to -> ControlMessageDescriptor.encode(ControlRequest.Kind.CREATE_TABLE, "t", 9, 1, 5, to, AT)))
            .as("as builds write that know no copies")
            .isEqualTo("0100" + "0200" + "01000000" + "0500000000000000" + "0900000000000000" + "74");
        assertThat(hex(to -> ControlMessageDescriptor.encode(ControlRequest.Kind.CREATE_TABLE, "t", 9, 3, 5, to, AT)))
            .isEqualTo("0100" + "0200" + "0100" + "03" + "00" + "0500000000000000" + "0900000000000000" + "74");
        assertThat(hex(to -> ControlMessageDescriptor.encodeReply(answered(
            ControlRequest.Kind.LIST_TABLES, ControlRequest.Status.OK, List.of("a", "b", "ü"), null), "a", to, AT)))
            .isEqualTo("0100" + "0100" + "02000000" + "0000000000000000" + "0100" + "62" + "0200" + "c3bc");
        assertThat(hex(to -> ControlMessageDescriptor.encodeReply(answered(
            ControlRequest.Kind.FIND_TABLE, ControlRequest.Status.OK, new TableReference("t", 7), null), "", to, AT)))
            .isEqualTo("0100" + "0100" + "07000000" + "0000000000000000");
        assertThat(hex(to -> ControlMessageDescriptor.encodeReply(answered(
            ControlRequest.Kind.DROP_TABLE, ControlRequest.Status.NOT_FOUND, null, "no"), "", to, AT)))
            .isEqualTo("0100" + "0200" + "00000000" + "0000000000000000" + "6e6f");
    }

    @Test
    void shouldWriteTheseBytesForRecords()
    {
        final RecordPage page = new RecordPage();
        assertThat(page.add(new UnsafeBuffer(new byte[]{0, 7, 8, 9}), 1, 1, 2, 0x0102, 0x0304, 0x0506)).isTrue();
        final byte[] bytes = page.toByteArray();
        assertThat(HexFormat.of().formatHex(bytes)).isEqualTo("01000000" + "02000000" + "0201000000000000" +
            "0403000000000000" + "0605000000000000" + "070809");
        assertThat(RecordPage.isWhole(bytes)).isTrue();
        assertThat(RecordPage.isWhole(Arrays.copyOf(bytes, bytes.length - 1))).as("cut").isFalse();
        assertThat(RecordPage.isWhole(Arrays.copyOf(bytes, bytes.length + 1))).as("more").isFalse();
        bytes[3] = -1;
        assertThat(RecordPage.isWhole(bytes)).as("a length below 0").isFalse();
        assertThat(RecordPage.isWhole(null)).isFalse();
        assertThat(RecordPage.isWhole(new byte[0])).isTrue();

        final UnsafeBuffer longest = new UnsafeBuffer(
            new byte[RequestLimits.MAX_KEY_BYTES + RequestLimits.MAX_VALUE_BYTES]);
        assertThat(page.add(longest, 0, RequestLimits.MAX_KEY_BYTES, RequestLimits.MAX_VALUE_BYTES, 1, 2, 0)).isFalse();
        page.clear();
        assertThat(page.add(longest, 0, RequestLimits.MAX_KEY_BYTES, RequestLimits.MAX_VALUE_BYTES, 1, 2, 0)).isTrue();
        assertThat(page.toByteArray()).hasSize(RecordPage.MAX_BYTES);
        assertThat(page.add(longest, 0, 1, 0, 1, 2, 0)).isFalse();

        final CountPage count = new CountPage(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
        assertThat(count.toByteArray()).startsWith(1, 0, 0, 0, 0, 0, 0, 0, 2);
        assertThat(CountPage.of(count.toByteArray())).isEqualTo(count);
        assertThat(CountPage.of(new byte[40])).isNull();
    }

    @Test
    void shouldAgreeWithItsPage() throws IOException
    {
        final FormatPage page = FormatPage.of("kv-messages.md");
        page.shouldAgreeWith(OperationMessageDescriptor.class);
        page.shouldAgreeWith(OperationReplyDescriptor.class);
        page.shouldAgreeWith(TransferDescriptor.class);
        page.shouldAgreeWith(ControlMessageDescriptor.class);
        page.shouldAgreeWith(ServiceStatusDescriptor.class);
        page.shouldAgreeWith(RecordPage.class);
        for (final RequestKind kind : RequestKind.values())
        {
            assertThat(page.text()).contains("| `" + kind + "` | " + kind.code() + " |");
        }
        for (final OperationAnswer answer : OperationAnswer.values())
        {
            assertThat(page.text()).contains("| `" + answer + "` | " + answer.code() + " |");
        }
        for (final ControlRequest.Kind kind : ControlRequest.Kind.values())
        {
            assertThat(page.text()).contains("| `" + kind + "` | " + ControlMessageDescriptor.code(kind) + " |");
        }
        for (final ControlRequest.Status status : ControlRequest.Status.values())
        {
            assertThat(page.text()).contains("| `" + status + "` | " + ControlMessageDescriptor.code(status) + " |");
        }
    }
}
