package io.verbena.protocol.remote;

import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.raas.Admission;
import io.verbena.raas.DeferredReply;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasConfiguration;
import io.verbena.raas.RaasContext;
import io.verbena.raas.RpcClient;
import io.verbena.raas.RpcHandler;
import io.verbena.raas.RpcReply;
import io.verbena.raas.RpcServer;
import io.verbena.raas.limit.RaasLimit;
import io.verbena.raas.usage.EncryptionUse;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import org.agrona.DirectBuffer;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiConsumer;

/**
 * The front door of a compute node for clients in other processes: takes requests as messages, hands them to the node's
 * endpoint, and sends the answers back. One thread drives {@link #doWork()}; the node may run on the same one, which
 * saves two hand-overs for each request, or on another.
 */
public final class RequestServer implements Agent, AutoCloseable
{
    /** Requests of one client that may be under way at one node. */
    public static final int CREDITS = 32;
    /**
     * How long after {@link #drain()} and the last request a node that leaves goes on to refuse requests: 2 s. Clients
     * send nothing when they have not looked for half that time whether it drains: none of theirs comes later.
     */
    public static final long LINGER_NS = 2_000_000_000;
    /** Scans and counts of one client that are under way at once; further ones are refused. */
    public static final int MAX_SCANS = 4;
    /** Longest time a request may claim to have left: 10 minutes. */
    private static final long MAX_TIMEOUT_NS = 600_000_000_000L;
    private static final long MAX_TRANSFER_STORE_BYTES = 64L << 20;
    private final NanoClock clock;
    private final ErrorHandler errorHandler;
    private final ComputeEndpoint endpoint;
    private final RaasContext raas;
    private final MemoryRegion status;
    private final RpcServer server;
    private final TransferStore transfers;
    private final ScanShares scans = new ScanShares(MAX_SCANS);
    /** Answered by other threads. */
    private final ConcurrentLinkedQueue<Served> completed = new ConcurrentLinkedQueue<>();
    /** Answered by the thread that drives this. */
    private final ArrayDeque<Served> completedHere = new ArrayDeque<>();
    private final ArrayDeque<Served> unsent = new ArrayDeque<>();
    private final UnsafeBuffer scratch = new UnsafeBuffer(new byte[RpcClient.MAX_MESSAGE_BYTES]);
    /** When the duty cycle began. */
    private long cycleNs;
    /** The poll before this one: what is found now has not arrived before. */
    private long polledNs;
    private final TableNames names = new TableNames();
    private long served;
    private int owed;
    /** The thread that drives this; others read it, and only it finds itself here. */
    private volatile Thread driver;
    private RpcHandler others = new NodeFigures(() -> "{}");
    private long refused;
    private boolean isEncryptionRequired;
    private boolean isClosed;

    /** A request that came as a message. */
    private interface Served
    {
        DeferredReply reply();

        /** Writes the answer into the scratch buffer; returns its length. */
        int encode();

        /** Puts an answer that can be written in the place of one that cannot. */
        void failAnswer(String detail);
    }

    private final class ServedOperation extends OperationRequest implements Served
    {
        private final DeferredReply reply;
        private final long connection;
        private long resultId;
        /** Whether it counts among the scans of its connection. */
        private boolean isCounted;

        ServedOperation(final DeferredReply reply, final long connection)
        {
            this.reply = reply;
            this.connection = connection;
        }

        @Override
        public DeferredReply reply()
        {
            return reply;
        }

        @Override
        public int encode()
        {
            final byte[] value = foundValue();
            if (null != value && 0 == resultId && value.length > OperationReplyDescriptor.MAX_INLINE_VALUE_BYTES)
            {
                resultId = transfers.keep(connection, value, clock.nanoTime());
                if (0 == resultId)
                {
                    answer(OperationAnswer.NOT_SERVING, null, 0, "too many large values wait to be fetched here");
                }
            }
            return OperationReplyDescriptor.encode(this, resultId, scratch, 0);
        }

        @Override
        public void failAnswer(final String detail)
        {
            resultId = 0;
            answer(kind().isRead() ? OperationAnswer.UNREACHABLE : OperationAnswer.OUTCOME_UNKNOWN, null, 0, detail);
        }

        @Override
        protected void onDone()
        {
            onAnswered(this);
        }
    }

    private final class ServedControl extends ControlRequest implements Served
    {
        private final DeferredReply reply;
        private final String afterName;

        ServedControl(
            final DeferredReply reply, final Kind kind, final String name, final long expectedRecords,
            final int copies, final long deadlineNs)
        {
            super(kind, Kind.LIST_TABLES == kind ? null : name, expectedRecords, copies, deadlineNs);
            this.reply = reply;
            afterName = name;
        }

        @Override
        public DeferredReply reply()
        {
            return reply;
        }

        @Override
        public int encode()
        {
            return ControlMessageDescriptor.encodeReply(this, afterName, scratch, 0);
        }

        @Override
        public void failAnswer(final String detail)
        {
            answer(ControlOutcome.ofUnsent(kind()), null, detail);
        }

        @Override
        protected void onDone()
        {
            onAnswered(this);
        }
    }

    private RequestServer(
        final Device device, final int servicePort, final ComputeEndpoint endpoint, final RaasContext raas,
        final MemoryRegion status, final ErrorHandler errorHandler)
    {
        this.errorHandler = errorHandler;
        this.endpoint = endpoint;
        this.raas = raas;
        this.status = status;
        clock = device.clock();
        cycleNs = clock.nanoTime();
        transfers = new TransferStore(MAX_TRANSFER_STORE_BYTES, device.random());
        ServiceStatusDescriptor.write(status, ServiceStatusDescriptor.STATE_SERVING);
        final Admission admission = Admission.accept(AccessFlags.REMOTE_READ, new byte[0], status);
        final RpcHandler handler = this::onRequest;
        server = raas.serve(servicePort, (caller, source) -> admission,
            (identity) -> endpoint.access().secretOf(identity), handler);
    }

    /**
     * Opens the door.
     *
     * @param device       of the node; the caller closes it later.
     * @param servicePort  where to listen on it, 1 to 65,535.
     * @param endpoint     of the node.
     * @param maxClients   connected at once; one more is refused, with the name of the option to raise.
     * @param channel      see {@link RaasConfiguration#completionChannel()}; or null.
     * @param errorHandler hears of failures that concern one client or one request only; does not throw.
     * @return the server, closed by the caller.
     */
    public static RequestServer open(
        final Device device, final int servicePort, final ComputeEndpoint endpoint, final int maxClients,
        final CompletionChannel channel, final ErrorHandler errorHandler)
    {
        final RaasConfiguration configuration = new RaasConfiguration()
            .rpcCredits(CREDITS)
            .dcInitiators(0)
            .completionChannel(channel)
            .errorHandler(errorHandler)
            .roomSetting("--max-clients (" + maxClients + ") of the compute node, or start another one")
            .peers(0, maxClients, device.attributes());
        final RaasContext raas = RaasContext.open(device, configuration);
        try
        {
            final MemoryRegion status = raas.protectionDomain().allocateRegistered(
                ServiceStatusDescriptor.LENGTH_BYTES, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ);
            return new RequestServer(device, servicePort, endpoint, raas, status, errorHandler);
        }
        catch (final RuntimeException ex)
        {
            raas.close();
            throw ex;
        }
    }

    @Override
    public int doWork()
    {
        return doWork(clock.nanoTime());
    }

    /**
     * As {@link #doWork()}.
     *
     * @param nowNs time now, by the clock of the device.
     * @return work done.
     */
    public int doWork(final long nowNs)
    {
        beginCycle(nowNs);
        final int work = raas.poll(nowNs) + sendAnswers();
        transfers.expire(nowNs);
        return work;
    }

    /**
     * Takes what has arrived, and does nothing else of a duty cycle: for who looks more often than that.
     *
     * @param nowNs time now, by the clock of the device.
     * @return work done.
     */
    public int takeRequests(final long nowNs)
    {
        beginCycle(nowNs);
        return raas.pollCompletions();
    }

    /**
     * Records that the thread has slept until now: what it finds next counts as arrived now, because nobody knows when
     * it arrived, and an idle node would seem to be slow.
     *
     * @param nowNs time now, by the clock of the device.
     */
    public void resume(final long nowNs)
    {
        cycleNs = nowNs;
    }

    private void beginCycle(final long nowNs)
    {
        polledNs = cycleNs;
        cycleNs = nowNs;
        final Thread current = Thread.currentThread();
        if (current != driver)
        {
            driver = current;
        }
    }

    /**
     * Sends what the node has answered: for who runs the node on the same thread, after its duty cycle.
     *
     * @return answers sent.
     */
    public int sendAnswers()
    {
        return sendUnsent() + send(completedHere) + send(completed);
    }

    @Override
    public String roleName()
    {
        return "request-server";
    }

    /** @return clients connected now. By the owner thread, as all that follows. */
    public int connections()
    {
        return server.connections();
    }

    /** @return clients refused so far, because there was no room for them. */
    public long refusals()
    {
        return server.refusals();
    }

    /** @return connections with clients by transport, see {@link RaasContext#transports()}. */
    public Map<String, Integer> transports()
    {
        return raas.transports().counts();
    }

    /** @return limits of the connections with clients, with what is used of each; a new list. */
    public List<RaasLimit> limits()
    {
        return raas.limits();
    }

    /** @return requests taken so far. */
    public long served()
    {
        return served;
    }

    /** @return requests taken and not answered. */
    public int owed()
    {
        return owed;
    }

    /** Answers tools that ask for figures; before the first request. */
    public void figures(final NodeFigures figures)
    {
        others = figures;
    }

    /** @return requests so far that the node did not take, so that clients had to send them again. */
    public long refusedRequests()
    {
        return refused;
    }

    /**
     * @param isRequired whether requests are taken over encrypted connections only; figures of the node over all.
     * @param onRefused  hears who was refused because of encryption, and what; by the owner thread.
     */
    public void encryption(final boolean isRequired, final BiConsumer<PeerIdentity, String> onRefused)
    {
        isEncryptionRequired = isRequired;
        server.encryption(isRequired ? PeerIdentity::isClient : (_) -> false, onRefused);
    }

    /** @return encrypted connections, and what was refused because of encryption. */
    public EncryptionUse encryption()
    {
        return server.encryption();
    }

    /** Lets clients know that they are to go elsewhere; what they send meanwhile goes to the node all the same. */
    public void drain()
    {
        ServiceStatusDescriptor.write(status, ServiceStatusDescriptor.STATE_DRAINING);
    }

    private int onRequest(
        final PeerIdentity caller, final int method, final DirectBuffer request, final int offset,
        final int lengthBytes, final RpcReply reply)
    {
        try
        {
            // Over a connection in clear nothing but figures is asked for, whoever has made it.
            return switch (isEncryptionRequired && !reply.isEncrypted() ? RequestMethod.FIGURES : method)
            {
                case RequestMethod.OPERATION -> onOperation(caller, request, offset, lengthBytes, reply);
                case RequestMethod.PART -> onPart(request, offset, lengthBytes, reply);
                case RequestMethod.FETCH -> onFetch(request, offset, lengthBytes, reply);
                case RequestMethod.CONTROL -> onControl(caller, request, offset, lengthBytes, reply);
                // Figures of the whole node are nobody's but the operator's, once there are users.
                default -> null == endpoint.access().rights(caller) ?
                    others.onRequest(caller, method, request, offset, lengthBytes, reply) :
                    reply.refuse("this takes the cluster's token");
            };
        }
        catch (final MalformedRequestException ex)
        {
            return reply.refuse("compute node refused a message: " + ex.getMessage());
        }
    }

    private int onPart(final DirectBuffer request, final int offset, final int lengthBytes, final RpcReply reply)
    {
        TransferDescriptor.check(request, offset, lengthBytes, true);
        transfers.part(reply.connection(), TransferDescriptor.id(request, offset),
            TransferDescriptor.totalLength(request, offset), TransferDescriptor.partOffset(request, offset), request,
            offset + TransferDescriptor.BYTES_OFFSET, TransferDescriptor.partLength(request, offset),
            clock.nanoTime());
        return 0;
    }

    private int onFetch(final DirectBuffer request, final int offset, final int lengthBytes, final RpcReply reply)
    {
        TransferDescriptor.check(request, offset, lengthBytes, false);
        final int partLength = TransferDescriptor.partLength(request, offset);
        final byte[] whole = transfers.fetch(reply.connection(), TransferDescriptor.id(request, offset),
            TransferDescriptor.totalLength(request, offset), partLength);
        if (null == whole)
        {
            return reply.refuse("the value is not kept any more: read the record again");
        }
        reply.buffer().putBytes(reply.offset(), whole, TransferDescriptor.partOffset(request, offset), partLength);
        return partLength;
    }

    private int onOperation(final PeerIdentity caller, final DirectBuffer message, final int offset,
        final int lengthBytes, final RpcReply reply)
    {
        OperationMessageDescriptor.check(message, offset, lengthBytes);
        final long transferId = OperationMessageDescriptor.transferId(message, offset);
        DirectBuffer body = message;
        if (0 != transferId)
        {
            final byte[] whole =
                transfers.take(reply.connection(), transferId, OperationMessageDescriptor.bodyLength(message, offset));
            if (null == whole)
            {
                throw new MalformedRequestException("its key and value are not all here: transfer " + transferId);
            }
            body = new UnsafeBuffer(whole);
        }
        final DeferredReply deferred = reply.defer();
        final ServedOperation request = new ServedOperation(deferred, reply.connection());
        OperationMessageDescriptor.decode(message, offset, body, 0 == transferId ? -1 : 0, names, request,
            deadlineNs(OperationMessageDescriptor.timeoutNs(message, offset)));
        request.arrivedAfter(polledNs);
        request.caller(caller);
        if (request.kind().isRange())
        {
            request.isCounted = scans.take(request.connection);
        }
        if (request.kind().isRange() && !request.isCounted)
        {
            served++;
            owed++;
            Refusals.refuse(new ServedOperation(deferred, request.connection), "client has " + MAX_SCANS +
                " scans under way here: this one is tried again when one of them is over");
        }
        else if (!submit(request))
        {
            endScan(request);
            // Another object: a node that closed just now may still hold the first one.
            Refusals.refuse(new ServedOperation(deferred, request.connection), refusal());
        }
        return RpcReply.DEFERRED;
    }

    private void endScan(final ServedOperation request)
    {
        if (request.isCounted)
        {
            request.isCounted = false;
            scans.giveBack(request.connection);
        }
    }

    private int onControl(final PeerIdentity caller, final DirectBuffer message, final int offset,
        final int lengthBytes, final RpcReply reply)
    {
        ControlMessageDescriptor.check(message, offset, lengthBytes);
        final ControlRequest.Kind kind = ControlMessageDescriptor.kind(message, offset);
        if (kind.isLocal())
        {
            throw new MalformedRequestException(kind + " is answered in the node's own process only");
        }
        final DeferredReply deferred = reply.defer();
        final String name = ControlMessageDescriptor.name(message, offset);
        final long expectedRecords = ControlMessageDescriptor.expectedRecords(message, offset);
        final int copies = ControlMessageDescriptor.copies(message, offset);
        final long deadlineNs = deadlineNs(ControlMessageDescriptor.timeoutNs(message, offset));
        final ServedControl request = new ServedControl(deferred, kind, name, expectedRecords, copies, deadlineNs);
        request.caller(caller);
        if (!submit(request))
        {
            Refusals.refuse(new ServedControl(deferred, kind, name, expectedRecords, copies, deadlineNs), refusal());
        }
        return RpcReply.DEFERRED;
    }

    private boolean submit(final NodeRequest request)
    {
        served++;
        owed++;
        return ComputeEndpoint.ACCEPTED == endpoint.submit(request);
    }

    private String refusal()
    {
        refused++;
        return "node takes no request now";
    }

    private long deadlineNs(final long timeoutNs)
    {
        return cycleNs + Math.clamp(timeoutNs, 0, MAX_TIMEOUT_NS);
    }

    /** Any thread: an answer is there; sent with the next ones. */
    private void onAnswered(final Served request)
    {
        if (Thread.currentThread() == driver)
        {
            completedHere.add(request);
        }
        else
        {
            completed.add(request);
        }
    }

    private int send(final Queue<Served> answered)
    {
        int sent = 0;
        Served next;
        while (unsent.isEmpty() && null != (next = answered.poll()))
        {
            sent += send(next) ? 1 : 0;
        }
        return sent;
    }

    private int sendUnsent()
    {
        int sent = 0;
        for (int left = unsent.size(); left > 0; left--)
        {
            sent += send(unsent.poll()) ? 1 : 0;
        }
        return sent;
    }

    private boolean send(final Served request)
    {
        if (request.reply().isOver() || request.reply().reply(scratch, 0, encode(request)))
        {
            owed--;
            if (request instanceof final ServedOperation operation)
            {
                endScan(operation);
            }
            return true;
        }
        unsent.add(request);
        return false;
    }

    /** An answer that cannot be written fails its request alone; what the node may have done has an unknown outcome. */
    private int encode(final Served request)
    {
        try
        {
            return request.encode();
        }
        catch (final RuntimeException ex)
        {
            errorHandler.onError(ex);
            request.failAnswer("compute node cannot send the answer, its log says why: " + ex);
            return request.encode();
        }
    }

    /** Closes connections; clients find the node gone. What the node still answers goes nowhere. Idempotent. */
    @Override
    public void close()
    {
        if (!isClosed)
        {
            server.close();
            status.close();
            raas.close();
            isClosed = true;
        }
    }

    @Override
    public void onClose()
    {
        close();
    }
}
