package io.verbena.protocol.remote;

import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RecordPage;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.RequestLimits;
import io.verbena.protocol.request.TableReference;
import io.verbena.test.MessageFuzzer;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What nodes and clients make of messages that somebody has changed. */
class KvMessagesFuzzTest
{
    private static final TableReference TABLE = new TableReference("orders", 7);
    private static final byte[] NAME = "orders".getBytes(StandardCharsets.UTF_8);

    private final MessageFuzzer fuzzer = new MessageFuzzer(20, MalformedRequestException.class);
    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[4_096]);
    private final TableNames names = new TableNames();

    private static final class Operation extends OperationRequest
    {
        @Override
        protected void onDone()
        {
            // Nobody waits.
        }
    }

    private static final class Control extends ControlRequest
    {
        Control(final Kind kind, final String name)
        {
            super(kind, name, 100, 1);
        }

        @Override
        protected void onDone()
        {
            // Nobody waits.
        }
    }

    private byte[] first(final int lengthBytes)
    {
        return Arrays.copyOf(buffer.byteArray(), lengthBytes);
    }

    private static boolean hasValue(final RequestKind kind)
    {
        return switch (kind)
        {
            case PUT, PUT_IF_ABSENT, PUT_IF_PRESENT, REPLACE, APPEND -> true;
            default -> false;
        };
    }

    @ParameterizedTest
    @EnumSource(RequestKind.class)
    void shouldReadOrRefuseOperations(final RequestKind kind)
    {
        for (final long transferId : new long[]{0, 9})
        {
            final Operation request = new Operation();
            request.ask(kind, TABLE, new byte[]{1, 2, 3}, hasValue(kind) ? new byte[40] : null, 1, 5);
            int length = OperationMessageDescriptor.encodeHead(request, NAME, 1_000, transferId, buffer, 0);
            length = 0 == transferId ? OperationMessageDescriptor.encodeBody(request, length, buffer, 0) : length;
            fuzzer.fuzz(kind + " " + transferId, first(length), this::readOperation);
        }
    }

    private void readOperation(final DirectBuffer message, final int offset, final int lengthBytes)
    {
        OperationMessageDescriptor.check(message, offset, lengthBytes);
        OperationMessageDescriptor.timeoutNs(message, offset);
        if (0 == OperationMessageDescriptor.transferId(message, offset))
        {
            OperationMessageDescriptor.decode(message, offset, message, -1, names, new Operation(), 1);
        }
        else
        {
            assertThat(OperationMessageDescriptor.bodyLength(message, offset))
                .isBetween(1, TransferDescriptor.MAX_TRANSFER_BYTES);
        }
    }

    @Test
    void shouldReadOrRefuseAnswers()
    {
        for (final long resultId : new long[]{0, 9})
        {
            final Operation request = new Operation();
            request.answer(OperationAnswer.FOUND, new byte[50], 3, "some detail");
            fuzzer.fuzz("answer " + resultId, first(OperationReplyDescriptor.encode(request, resultId, buffer, 0)),
                KvMessagesFuzzTest::readAnswer);
        }
    }

    /** As a client does: a value that is fetched later gets its array at once. */
    private static void readAnswer(final DirectBuffer message, final int offset, final int lengthBytes)
    {
        OperationReplyDescriptor.check(message, offset, lengthBytes);
        if (0 == OperationReplyDescriptor.resultId(message, offset))
        {
            OperationReplyDescriptor.decode(message, offset, null, new Operation());
        }
        else
        {
            assertThat(OperationReplyDescriptor.valueLength(message, offset))
                .isBetween(1, TransferDescriptor.MAX_TRANSFER_BYTES);
        }
    }

    /** A node that answers so made its client's thread throw. */
    @Test
    void shouldRefuseAValueThatIsToBeFetchedAndHasNoLength()
    {
        final Operation request = new Operation();
        request.answer(OperationAnswer.NOT_FOUND, null, 3, null);
        final int length = OperationReplyDescriptor.encode(request, 9, buffer, 0);
        assertThatThrownBy(() -> OperationReplyDescriptor.check(buffer, 0, length))
            .isInstanceOf(MalformedRequestException.class).hasMessageContaining("fetched=-1");
    }

    @Test
    void shouldReadOrRefuseParts()
    {
        final int head = TransferDescriptor.encode(5, 5_000, 1_000, 300, buffer, 0);
        fuzzer.fuzz("part", first(head + 300), (message, offset, lengthBytes) ->
        {
            TransferDescriptor.check(message, offset, lengthBytes, true);
            message.getBytes(offset + TransferDescriptor.BYTES_OFFSET,
                new byte[TransferDescriptor.partLength(message, offset)]);
            checkPart(message, offset);
        });
        fuzzer.fuzz("fetch", first(head), (message, offset, lengthBytes) ->
        {
            TransferDescriptor.check(message, offset, lengthBytes, false);
            checkPart(message, offset);
        });
    }

    private static void checkPart(final DirectBuffer message, final int offset)
    {
        TransferDescriptor.id(message, offset);
        final int end = TransferDescriptor.partOffset(message, offset) + TransferDescriptor.partLength(message, offset);
        assertThat(TransferDescriptor.partOffset(message, offset)).isNotNegative();
        assertThat(end).isPositive().isLessThanOrEqualTo(TransferDescriptor.totalLength(message, offset));
        assertThat(TransferDescriptor.totalLength(message, offset))
            .isLessThanOrEqualTo(TransferDescriptor.MAX_TRANSFER_BYTES);
    }

    @ParameterizedTest
    @EnumSource(ControlRequest.Kind.class)
    void shouldReadOrRefuseRequestsAboutTables(final ControlRequest.Kind kind)
    {
        fuzzer.fuzz(kind.name(), first(ControlMessageDescriptor.encode(kind, "orders", 9,
            ControlRequest.Kind.CREATE_TABLE == kind ? 2 : 1, 1_000, buffer, 0)),
            (message, offset, lengthBytes) ->
            {
                ControlMessageDescriptor.check(message, offset, lengthBytes);
                ControlMessageDescriptor.kind(message, offset).isLocal();
                ControlMessageDescriptor.name(message, offset);
                ControlMessageDescriptor.expectedRecords(message, offset);
                assertThat(ControlMessageDescriptor.copies(message, offset)).isBetween(1, RequestLimits.MAX_COPIES);
                ControlMessageDescriptor.timeoutNs(message, offset);
            });
    }

    @Test
    void shouldReadOrRefuseAnswersAboutTables()
    {
        final Control list = new Control(ControlRequest.Kind.LIST_TABLES, null);
        list.answer(ControlRequest.Status.OK, List.of("a", "orders", "users"), null);
        fuzzer.fuzz("list", first(ControlMessageDescriptor.encodeReply(list, "", buffer, 0)),
            (message, offset, lengthBytes) ->
                ControlMessageDescriptor.decodeReply(ControlRequest.Kind.LIST_TABLES, message, offset, lengthBytes));
        final Control found = new Control(ControlRequest.Kind.FIND_TABLE, "orders");
        found.answer(ControlRequest.Status.OK, TABLE, "detail");
        fuzzer.fuzz("found", first(ControlMessageDescriptor.encodeReply(found, "", buffer, 0)),
            (message, offset, lengthBytes) ->
                ControlMessageDescriptor.decodeReply(ControlRequest.Kind.FIND_TABLE, message, offset, lengthBytes));
    }

    /** A page is checked whole before any record of it is read. */
    @Test
    void shouldReadOrRefusePagesOfRecords()
    {
        final RecordPage page = new RecordPage();
        final UnsafeBuffer records = new UnsafeBuffer(new byte[100]);
        for (int i = 1; i <= 5; i++)
        {
            page.add(records, i, 3 * i, 7 * i, i, i, 0);
        }
        fuzzer.fuzz("page", page.toByteArray(), (message, offset, lengthBytes) ->
        {
            final byte[] bytes = new byte[lengthBytes];
            message.getBytes(offset, bytes);
            if (!RecordPage.isWhole(bytes))
            {
                throw new MalformedRequestException("not whole records");
            }
            for (int at = 0; at < bytes.length;)
            {
                final int keyLength = RecordPage.keyLength(bytes, at);
                Arrays.copyOfRange(bytes, at + RecordPage.KEY_OFFSET, at + RecordPage.KEY_OFFSET + keyLength);
                at += RecordPage.KEY_OFFSET + keyLength + RecordPage.valueLength(bytes, at);
                assertThat(at).isLessThanOrEqualTo(bytes.length);
            }
        });
    }
}
