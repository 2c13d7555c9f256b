package io.verbena.server;

import io.verbena.compute.ComputeNode;
import io.verbena.compute.figures.OperationFigures;
import io.verbena.protocol.bootstrap.AccessTicket;
import io.verbena.protocol.remote.RemoteEndpoint;
import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.DutyLock;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.protocol.request.RecordPage;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.TableReference;
import io.verbena.raas.PeerAddress;
import io.verbena.raas.RaasContext;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.Fabric;

import org.agrona.concurrent.NanoClock;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Reads of a spare from itself, over the fabric as a client does it, before there are clients: they have its code
 * compiled. A node that joins cold compiles on the processors that it is to serve with, and answers late for seconds.
 * Nothing is written; records that are there are read, or none. On a thread of its own, which ends when so many reads
 * were answered, or the node is activated; clients that are connected before send nothing. The other methods are for
 * the node's thread.
 */
final class SpareWarmUp implements AutoCloseable
{
    /** Compilers have done with what runs for each read by then. */
    static final int READS = 12_000;
    private static final Logger LOGGER = LoggerFactory.getLogger(SpareWarmUp.class);
    /** As one client has under way at one node. */
    private static final int TOGETHER = 8;
    private static final int MOST_TABLES = 4;
    private static final long CALL_NS = TimeUnit.SECONDS.toNanos(5);
    /** Where there is no table yet, or the node does not answer. */
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long NAP_NS = TimeUnit.MICROSECONDS.toNanos(50);
    private static final long END_MS = 2_000;
    /** In which the node has seen that the connection of the thread that has ended was closed. */
    private static final long CLOSED_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final byte[] ANY_KEY = {0};

    private final Fabric fabric;
    private final AccessTicket ticket;
    private final boolean isEncrypted;
    private final OperationFigures figures;
    private Thread thread;
    private boolean isOver;
    private boolean isThreadOver;
    private long threadOverNs;
    private volatile boolean isEnding;
    private volatile boolean hasEnded;

    /** A question that is asked again once it was answered. */
    private static final class Read extends OperationRequest
    {
        private byte[] array = {};
        private boolean isAsked;

        @Override
        public byte[] arrayFor(final int lengthBytes)
        {
            array = array.length < lengthBytes ? new byte[lengthBytes] : array;
            return array;
        }

        @Override
        protected void onDone()
        {
            // Its thread looks for itself.
        }
    }

    private static final class Question extends ControlRequest
    {
        Question(final Kind kind, final String tableName, final long deadlineNs)
        {
            super(kind, tableName, 0, deadlineNs);
        }

        @Override
        protected void onDone()
        {
            // as above
        }
    }

    /** Keys of a table that are read one after the other. */
    private record Sample(TableReference table, byte[][] keys)
    {
    }

    /**
     * @param fabric  for a device of its own.
     * @param ticket  as a client of the cluster; null: without a proof.
     * @param isEncrypted whether the node takes only encrypted connections.
     * @param figures of the node, which do not count what is asked here.
     */
    SpareWarmUp(
        final Fabric fabric, final AccessTicket ticket, final boolean isEncrypted, final OperationFigures figures)
    {
        this.isEncrypted = isEncrypted;
        this.fabric = fabric;
        this.ticket = ticket;
        this.figures = figures;
    }

    /**
     * One look of the node's thread: begins when the node serves, and ends when it is a spare no longer, or all was
     * read.
     *
     * @param device      of the node.
     * @param node        of it.
     * @param isSpare     whether clients send nothing to it.
     * @param connections with it, of clients and of its own.
     * @param nowNs       time now.
     */
    void follow(
        final Device device, final ComputeNode node, final boolean isSpare, final int connections, final long nowNs)
    {
        if (isOver)
        {
            return;
        }
        if (null == thread && ComputeNode.State.SERVING == node.state())
        {
            isOver = !isSpare;
            if (isSpare)
            {
                figures.pause(true);
                final PeerAddress address = new PeerAddress(
                    device.address(), ComputeNodeRole.SERVICE_PORT, node.nodeId(), node.incarnation());
                thread = new Thread(() -> run(address), "verbena-warm-up");
                thread.setDaemon(true);
                thread.start();
            }
        }
        else if (null != thread && (!isSpare || isGone(connections, nowNs)))
        {
            isOver = true;
            isEnding = true;
            figures.pause(false);
        }
    }

    /** Whether its own connection is none of those that the node has. Clients may have come and gone meanwhile. */
    private boolean isGone(final int connections, final long nowNs)
    {
        if (thread.isAlive())
        {
            return false;
        }
        threadOverNs = isThreadOver ? threadOverNs : nowNs;
        isThreadOver = true;
        return 0 == connections || nowNs - threadOverNs >= CLOSED_NS;
    }

    /** @return whether its own connection is the one that the node may have. By the node's thread. */
    boolean isUnderWay()
    {
        return null != thread && !isOver;
    }

    /** @return whether a spare has read all that it was to, or cannot: then it is as fast as it will be. Any thread. */
    boolean hasEnded()
    {
        return hasEnded;
    }

    /** Ends it, and waits until nothing of it is left on the fabric, 2 s at most. */
    @Override
    public void close()
    {
        isEnding = true;
        try
        {
            if (null != thread)
            {
                thread.join(END_MS);
            }
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
        }
    }

    private void run(final PeerAddress node)
    {
        try (Device device = fabric.openDevice("warm-up-" + ProcessHandle.current().pid());
            RaasContext raas = RaasContext.open(device, RemoteEndpoint.configure(1).encrypted(isEncrypted)))
        {
            if (null != ticket)
            {
                ticket.use(raas);
            }
            final DutyLock lock =
                new DutyLock(null, () -> {}, raas.clock(), DutyLock.Patience.ANOTHER_PROCESS_ANSWERS);
            try (RemoteEndpoint endpoint = new RemoteEndpoint(raas, node, node.incarnation(), lock, CALL_NS))
            {
                new Client(raas, endpoint).read();
            }
        }
        catch (final RuntimeException ex)
        {
            LOGGER.warn("the spare serves its first clients slower: it could not read from itself before: {}",
                ex.toString());
        }
        hasEnded = true;
    }

    /** The connection, and what is asked over it; used by its thread. */
    private final class Client
    {
        private final RaasContext raas;
        private final RemoteEndpoint endpoint;
        private final NanoClock clock;
        private final Read[] reads = new Read[TOGETHER];
        private int answered;
        private int next;

        Client(final RaasContext raas, final RemoteEndpoint endpoint)
        {
            this.raas = raas;
            this.endpoint = endpoint;
            clock = raas.clock();
            Arrays.setAll(reads, (i) -> new Read());
        }

        void read()
        {
            List<Sample> samples = List.of();
            while (!isOver() && samples.isEmpty())
            {
                samples = samples();
                for (final long sinceNs = clock.nanoTime();
                    samples.isEmpty() && !isOver() && clock.nanoTime() - sinceNs < PAUSE_NS;)
                {
                    await();
                }
            }
            while (!isOver() && answered < READS)
            {
                boolean isAny = false;
                for (final Read read : reads)
                {
                    isAny |= follow(read, samples);
                }
                turn(isAny);
            }
            for (final Read read : reads)
            {
                await(read);
            }
            if (answered >= READS)
            {
                LOGGER.info("warmed up by {} reads", answered);
            }
        }

        private boolean isOver()
        {
            return isEnding || endpoint.isEnding();
        }

        /** Asks again what was answered; returns whether it was. */
        private boolean follow(final Read read, final List<Sample> samples)
        {
            if (read.isAsked && NodeRequest.DONE != read.state())
            {
                return false;
            }
            answered += read.isAsked && OperationAnswer.NOT_SERVING != read.answer() ? 1 : 0;
            final Sample sample = samples.get(next % samples.size());
            ask(read, RequestKind.GET, sample.table(), sample.keys()[next++ % sample.keys().length], 0);
            return true;
        }

        private void ask(
            final Read read, final RequestKind kind, final TableReference table, final byte[] key, final long operand)
        {
            read.ask(kind, table, key, null, operand, clock.nanoTime() + CALL_NS);
            read.isAsked = ComputeEndpoint.ACCEPTED == endpoint.submit(read);
        }

        /** Records of some tables; of an empty one a key that is not there. */
        private List<Sample> samples()
        {
            final List<Sample> samples = new ArrayList<>();
            if (call(ControlRequest.Kind.LIST_TABLES, "") instanceof final List<?> names)
            {
                for (final Object name : names.subList(0, Math.min(MOST_TABLES, names.size())))
                {
                    if (call(ControlRequest.Kind.FIND_TABLE, (String)name) instanceof final TableReference table)
                    {
                        samples.add(new Sample(table, keys(table)));
                    }
                }
            }
            return samples;
        }

        private byte[][] keys(final TableReference table)
        {
            final Read scan = new Read();
            ask(scan, RequestKind.SCAN, table, ANY_KEY, 0);
            await(scan);
            final List<byte[]> keys = new ArrayList<>();
            if (NodeRequest.DONE == scan.state() && null != scan.foundValue())
            {
                final byte[] page = Arrays.copyOf(scan.foundValue(), scan.foundLength());
                int at = 0;
                while (RecordPage.isWhole(page) && at < page.length)
                {
                    final int keyAt = at + RecordPage.KEY_OFFSET;
                    final int valueAt = keyAt + RecordPage.keyLength(page, at);
                    keys.add(Arrays.copyOfRange(page, keyAt, valueAt));
                    at = valueAt + RecordPage.valueLength(page, at);
                }
            }
            return keys.isEmpty() ? new byte[][]{ANY_KEY} : keys.toArray(byte[][]::new);
        }

        private Object call(final ControlRequest.Kind kind, final String name)
        {
            final Question question = new Question(kind, name, clock.nanoTime() + CALL_NS);
            return ComputeEndpoint.ACCEPTED == endpoint.submit(question) && await(question) &&
                ControlRequest.Status.OK == question.status() ? question.result() : null;
        }

        private boolean await(final NodeRequest request)
        {
            while (!isOver() && NodeRequest.IDLE != request.state() && NodeRequest.DONE != request.state())
            {
                await();
            }
            return NodeRequest.DONE == request.state();
        }

        private void await()
        {
            turn(false);
        }

        private void turn(final boolean isAny)
        {
            if (endpoint.poll(clock.nanoTime()) + raas.poll() == 0 && !isAny)
            {
                LockSupport.parkNanos(NAP_NS);
            }
        }
    }
}
