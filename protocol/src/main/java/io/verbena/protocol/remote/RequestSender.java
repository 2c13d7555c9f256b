package io.verbena.protocol.remote;

import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.TableReference;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RpcClient;
import io.verbena.raas.rpc.RpcReplyListener;
import io.verbena.raas.rpc.RpcStatus;
import io.verbena.raas.VirtualQp;
import io.verbena.rdma.verbs.PostStatus;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Sends requests over one connection and turns replies into answers. Makes no more calls at once than the connection
 * has credits, so that a call that was made is on its way: what has not been called has had no effect. Owned by the
 * thread that owns the context.
 */
final class RequestSender
{
    /** How long after its deadline a request's answer is awaited; less than what clients grant. */
    private static final long GRACE_NS = 4_000_000;
    private static final String LOST = "connection is lost";

    private final RaasContext raas;
    private final VirtualQp vqp;
    private final RpcClient rpc;
    /** Where the request of a call that was begun is written. */
    private final MutableDirectBuffer message;
    private final ArrayDeque<Transfer> transfers = new ArrayDeque<>();
    private final ArrayDeque<OperationCall> freeCalls = new ArrayDeque<>();
    private TableReference lastTable;
    private byte[] lastName;
    private long nextTransferId;
    private int callsUnderWay;
    /** Why what was uploaded is not begun any more; null while it is. */
    private String refusal;

    /** A request or a result that goes in parts; makes calls while there is room. */
    private abstract class Transfer
    {
        protected final OperationRequest request;
        protected final byte[] bytes;
        protected final long id;
        protected int called;
        protected int done;
        protected String failure;

        Transfer(final OperationRequest request, final byte[] bytes, final long id)
        {
            this.request = request;
            this.bytes = bytes;
            this.id = id;
        }

        /** Whether there is one more part to call for. */
        final boolean hasMore()
        {
            return null == failure && called < bytes.length;
        }

        /** Makes the next call for a part. */
        final void callNext(final long nowNs)
        {
            final int offset = called;
            final int length = Math.min(TransferDescriptor.MAX_PART_BYTES, bytes.length - offset);
            called += length;
            if (!begin())
            {
                failure = LOST;
                return;
            }
            final int head = TransferDescriptor.encode(id, bytes.length, offset, length, message, 0);
            call(method(), encodeBytes(head, offset, length), nowNs + remainingNs(request.deadlineNs(), nowNs),
                (callId, status, payload, at, replyLength) ->
                    onPart(offset, length, status, payload, at, replyLength));
        }

        private void onPart(
            final int offset, final int length, final RpcStatus status, final DirectBuffer payload, final int at,
            final int replyLength)
        {
            onCallEnded();
            if (RpcStatus.OK != status)
            {
                failure = text(status, payload, at, replyLength);
            }
            else if (null == failure)
            {
                failure = take(offset, length, payload, at, replyLength);
            }
            done += length;
            if (null != failure || done == bytes.length)
            {
                end();
            }
        }

        abstract int method();

        abstract int encodeBytes(int head, int offset, int length);

        /** Takes a part's reply; returns what is wrong with it, or null. */
        abstract String take(int offset, int length, DirectBuffer payload, int at, int replyLength);

        /** All parts are through, or one failed; may be called once for each part that fails. */
        abstract void end();
    }

    /** Key and value that go before their operation. */
    private final class Upload extends Transfer
    {
        private final byte[] head;
        private boolean ended;
        private boolean ready;

        Upload(final OperationRequest request, final byte[] bytes, final long id, final byte[] head)
        {
            super(request, bytes, id);
            this.head = head;
        }

        @Override
        int method()
        {
            return RequestMethod.PART;
        }

        @Override
        int encodeBytes(final int headLength, final int offset, final int length)
        {
            message.putBytes(headLength, bytes, offset, length);
            return headLength + length;
        }

        @Override
        String take(final int offset, final int length, final DirectBuffer payload, final int at, final int replyLength)
        {
            return null;
        }

        @Override
        void end()
        {
            if (!ended && null != failure)
            {
                ended = true;
                // Not begun: the operation itself was never sent.
                request.answer(OperationAnswer.NOT_SERVING, null, 0, failure);
                request.complete();
            }
            else if (!ended)
            {
                ended = true;
                ready = true;
                transfers.add(this);
            }
        }
    }

    /** A value that did not fit into its operation's reply. */
    private final class Download extends Transfer
    {
        private final UnsafeBuffer reply;
        private boolean ended;

        Download(final OperationRequest request, final byte[] bytes, final long id, final UnsafeBuffer reply)
        {
            super(request, bytes, id);
            this.reply = reply;
        }

        @Override
        int method()
        {
            return RequestMethod.FETCH;
        }

        @Override
        int encodeBytes(final int head, final int offset, final int length)
        {
            return head;
        }

        @Override
        String take(final int offset, final int length, final DirectBuffer payload, final int at, final int replyLength)
        {
            if (replyLength != length)
            {
                return "a part of a value has " + replyLength + " bytes instead of " + length;
            }
            payload.getBytes(at, bytes, offset, length);
            return null;
        }

        @Override
        void end()
        {
            if (ended)
            {
                return;
            }
            ended = true;
            if (null == failure)
            {
                OperationReplyDescriptor.decode(reply, 0, bytes, request);
            }
            else
            {
                request.answer(OperationAnswer.OUTCOME_UNKNOWN, null, 0, failure); // of a read: done again elsewhere
            }
            request.complete();
        }
    }

    /** Hears of the answer to an operation; used again for the next one. */
    private final class OperationCall implements RpcReplyListener
    {
        private OperationRequest request;

        @Override
        public void onReply(
            final long callId, final RpcStatus status, final DirectBuffer payload, final int offset,
            final int lengthBytes)
        {
            final OperationRequest answered = request;
            request = null;
            freeCalls.push(this);
            onAnswer(answered, status, payload, offset, lengthBytes);
        }
    }

    RequestSender(final RaasContext raas, final VirtualQp vqp)
    {
        this.raas = raas;
        this.vqp = vqp;
        rpc = raas.rpcClient();
        message = rpc.requestBuffer();
        nextTransferId = raas.device().random().nextLong() | 1;
    }

    boolean hasRoom()
    {
        return callsUnderWay < RequestServer.CREDITS && transfers.isEmpty();
    }

    boolean isBusy()
    {
        return callsUnderWay > 0 || !transfers.isEmpty();
    }

    /** Goes on with what goes in parts. */
    int poll(final long nowNs)
    {
        int work = 0;
        while (!transfers.isEmpty() && callsUnderWay < RequestServer.CREDITS)
        {
            final Transfer next = transfers.peek();
            if (next instanceof final Upload upload && upload.ready)
            {
                transfers.poll();
                callUploaded(upload, nowNs);
            }
            else
            {
                next.callNext(nowNs);
                if (!next.hasMore())
                {
                    transfers.poll();
                }
                if (null != next.failure)
                {
                    next.end();
                }
            }
            work++;
        }
        return work;
    }

    /** Sends an operation that came out of the queue; {@link #hasRoom()} must hold. */
    void send(final OperationRequest request, final long nowNs)
    {
        if (NodeRequest.QUEUED != request.state())
        {
            return; // withdrawn
        }
        if (request.deadlineNs() - nowNs <= 0)
        {
            if (request.start())
            {
                Refusals.answer(request, OperationAnswer.TIMED_OUT, null, null);
            }
            return;
        }
        final byte[] name = name(request.table());
        if (OperationMessageDescriptor.fitsOneMessage(request, name.length))
        {
            sendInOne(request, name, nowNs);
            return;
        }
        sendInParts(request, name, nowNs);
    }

    /**
     * The message is written before the request is taken from its submitter, who may change its arrays afterwards, and
     * where it is sent from: the slot of the call is free again only when nobody reads it any more.
     */
    private void sendInOne(final OperationRequest request, final byte[] name, final long nowNs)
    {
        final boolean isBegun = begin();
        final int length = isBegun ? encode(request, name, request.deadlineNs() - nowNs) : 0;
        final boolean isTaken = request.start();
        if (isTaken && isBegun)
        {
            callOperation(request, length, nowNs);
        }
        else if (isTaken)
        {
            Refusals.answer(request, OperationAnswer.NOT_SERVING, null, LOST);
        }
        else if (isBegun)
        {
            rpc.cancel();
        }
    }

    private int encode(final OperationRequest request, final byte[] name, final long timeoutNs)
    {
        try
        {
            final int head = OperationMessageDescriptor.encodeHead(request, name, timeoutNs, 0, message, 0);
            return OperationMessageDescriptor.encodeBody(request, head, message, 0);
        }
        catch (final RuntimeException ex)
        {
            rpc.cancel();
            throw ex;
        }
    }

    /** Bytes of a table's name; the last ones are kept, since most requests ask for the same table again. */
    private byte[] name(final TableReference table)
    {
        if (lastTable != table)
        {
            lastTable = table;
            lastName = table.name().getBytes(StandardCharsets.UTF_8);
        }
        return lastName;
    }

    private void sendInParts(final OperationRequest request, final byte[] name, final long nowNs)
    {
        final byte[] body = new byte[request.keyLength() + request.valueLength()];
        System.arraycopy(request.key(), 0, body, 0, request.keyLength());
        if (null != request.value())
        {
            System.arraycopy(request.value(), 0, body, request.keyLength(), request.valueLength());
        }
        nextTransferId = 0 == nextTransferId + 1 ? 1 : nextTransferId + 1;
        final byte[] head = new byte[OperationMessageDescriptor.NAME_OFFSET + name.length];
        OperationMessageDescriptor.encodeHead(
            request, name, request.deadlineNs() - nowNs, nextTransferId, new UnsafeBuffer(head), 0);
        if (request.start())
        {
            transfers.add(new Upload(request, body, nextTransferId, head));
            poll(nowNs);
        }
    }

    /** From here on no operation is begun, also none whose key and value are there already. */
    void beginNoMore(final String why)
    {
        refusal = why;
    }

    private void callUploaded(final Upload upload, final long nowNs)
    {
        if (null != refusal)
        {
            Refusals.answer(upload.request, OperationAnswer.NOT_SERVING, null, refusal);
            return;
        }
        final long leftNs = upload.request.deadlineNs() - nowNs;
        if (leftNs <= 0)
        {
            Refusals.answer(upload.request, OperationAnswer.TIMED_OUT, null, null);
            return;
        }
        if (!begin())
        {
            Refusals.answer(upload.request, OperationAnswer.NOT_SERVING, null, LOST);
            return;
        }
        message.putBytes(0, upload.head);
        message.putLong(
            OperationMessageDescriptor.TIMEOUT_OFFSET, leftNs, OperationMessageDescriptor.ORDER);
        callOperation(upload.request, upload.head.length, nowNs);
    }

    private void callOperation(final OperationRequest request, final int lengthBytes, final long nowNs)
    {
        final OperationCall call = freeCalls.isEmpty() ? new OperationCall() : freeCalls.pop();
        call.request = request;
        call(RequestMethod.OPERATION, lengthBytes, nowNs + remainingNs(request.deadlineNs(), nowNs), call);
    }

    private void onAnswer(
        final OperationRequest request, final RpcStatus status, final DirectBuffer payload, final int offset,
        final int lengthBytes)
    {
        onCallEnded();
        if (RpcStatus.OK != status)
        {
            // A server refuses only what it has not begun.
            final OperationAnswer answer = RpcStatus.REFUSED == status ?
                OperationAnswer.NOT_SERVING : OperationAnswer.OUTCOME_UNKNOWN;
            Refusals.answer(request, answer, null, text(status, payload, offset, lengthBytes));
            return;
        }
        try
        {
            OperationReplyDescriptor.check(payload, offset, lengthBytes);
        }
        catch (final MalformedRequestException ex)
        {
            Refusals.answer(request, OperationAnswer.OUTCOME_UNKNOWN, null, ex.getMessage());
            return;
        }
        final long resultId = OperationReplyDescriptor.resultId(payload, offset);
        if (0 != resultId)
        {
            final byte[] reply = new byte[lengthBytes];
            payload.getBytes(offset, reply);
            transfers.add(new Download(request, new byte[OperationReplyDescriptor.valueLength(payload, offset)],
                resultId, new UnsafeBuffer(reply)));
            return;
        }
        OperationReplyDescriptor.decode(payload, offset, null, request);
        request.complete();
    }

    /** Sends a control request that came out of the queue; {@link #hasRoom()} must hold. */
    void send(final ControlRequest request, final long nowNs)
    {
        if (!request.start())
        {
            return;
        }
        if (request.kind().isLocal())
        {
            Refusals.answer(request, null, ControlRequest.Status.REFUSED, "answered in the node's own process only");
            return;
        }
        callControl(request, null == request.tableName() ? "" : request.tableName(), new ArrayList<>(), nowNs);
    }

    private void callControl(
        final ControlRequest request, final String name, final List<String> names, final long nowNs)
    {
        final long leftNs = Math.max(0, request.deadlineNs() - nowNs);
        if (!begin())
        {
            Refusals.answer(request, null, ControlRequest.Status.NOT_SERVING, LOST);
            return;
        }
        final int length;
        try
        {
            length = ControlMessageDescriptor.encode(
                request.kind(), name, request.expectedRecords(), request.copies(), leftNs, message, 0);
        }
        catch (final RuntimeException ex)
        {
            rpc.cancel();
            throw ex;
        }
        call(RequestMethod.CONTROL, length, nowNs + remainingNs(request.deadlineNs(), nowNs),
            (callId, status, payload, offset, replyLength) ->
                onControlAnswer(request, names, status, payload, offset, replyLength));
    }

    private void onControlAnswer(
        final ControlRequest request, final List<String> names, final RpcStatus status, final DirectBuffer payload,
        final int offset, final int lengthBytes)
    {
        onCallEnded();
        if (RpcStatus.OK != status)
        {
            Refusals.answer(
                request, null, ControlOutcome.of(request.kind(), status), text(status, payload, offset, lengthBytes));
            return;
        }
        final ControlMessageDescriptor.Answer answer;
        try
        {
            answer = ControlMessageDescriptor.decodeReply(request.kind(), payload, offset, lengthBytes);
        }
        catch (final MalformedRequestException ex)
        {
            Refusals.answer(
                request, null, ControlOutcome.of(request.kind(), RpcStatus.PEER_FAILED), ex.getMessage());
            return;
        }
        names.addAll(answer.names());
        if (answer.hasMore() && !answer.names().isEmpty())
        {
            callControl(request, names.getLast(), names, raas.clock().nanoTime());
            return;
        }
        request.answer(answer.status(), ControlOutcome.result(request, answer, names), answer.detail());
        request.complete();
    }

    /** Begins a call, whose request is then written into the message; @return false when the connection is lost. */
    private boolean begin()
    {
        return PostStatus.OK == rpc.begin(vqp);
    }

    private void call(
        final int method, final int lengthBytes, final long deadlineNs, final RpcReplyListener listener)
    {
        rpc.complete(method, lengthBytes, deadlineNs, listener);
        callsUnderWay++;
    }

    private void onCallEnded()
    {
        callsUnderWay--;
    }

    /** Answers what goes in parts and has not been called in full; calls under way end by themselves. */
    void close()
    {
        Transfer transfer;
        while (null != (transfer = transfers.poll()))
        {
            transfer.failure = "connection is closed";
            if (transfer instanceof final Upload upload && upload.ready)
            {
                Refusals.answer(upload.request, OperationAnswer.NOT_SERVING, null, transfer.failure);
            }
            else
            {
                transfer.end();
            }
        }
    }

    private static long remainingNs(final long deadlineNs, final long nowNs)
    {
        return Math.max(1, deadlineNs - nowNs) + GRACE_NS;
    }

    private static String text(
        final RpcStatus status, final DirectBuffer payload, final int offset, final int lengthBytes)
    {
        return RpcStatus.REFUSED == status ? payload.getStringWithoutLengthUtf8(offset, lengthBytes) :
            "compute node did not answer: " + payload.getStringWithoutLengthUtf8(offset, lengthBytes);
    }
}
