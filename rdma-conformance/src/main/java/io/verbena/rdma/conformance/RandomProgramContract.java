package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.SharedReceiveQueue;
import io.verbena.rdma.verbs.UnsupportedVerbException;
import io.verbena.rdma.verbs.WorkCompletionOpcode;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random programs, good and bad requests mixed, do on a provider exactly what they do on {@link VerbsModel}. A failing
 * program is shrunk before it is shown, and its seed printed.
 */
abstract class RandomProgramContract extends VerbsHarness
{
    private static final int PROGRAMS = Integer.getInteger("verbena.verbs.programs", 300);
    private static final int FEWER = 4;
    private static final long FIRST_SEED = Long.getLong("verbena.verbs.seed", 1);
    private static final int AREA_BYTES = Endpoint.REGION_BYTES;
    private static final int MAX_LENGTH_BYTES = 200;
    private static final int RECEIVE_BYTES = 128;
    private static final int BATCHES = 12;
    private static final int RECEIVES_READY = 6;
    private static final int MOST_SHRINKING_RUNS = 150;
    private static final int MOST_SETTLES = 200;
    private static final int WINDOW_OFFSET = 64;
    private static final int WINDOW_BYTES = 320;

    /** What connects the two sides. */
    private enum Transport
    {
        RC, SHARED_RECEIVES, WINDOW, UC
    }

    /** A receive posted or a batch rung; one of them is null. */
    private record Step(VerbsModel.Receive receive, List<VerbsModel.Request> batch)
    {
        @Override
        public String toString()
        {
            return receive != null ? receive.toString() : batch.toString();
        }
    }

    private Transport transport;
    private SplittableRandom random;
    private VerbsModel model;
    private long nextWrId;
    private int remoteKey;
    private SharedReceiveQueue shared;

    @Test
    @Timeout(value = 240, unit = TimeUnit.SECONDS)
    void shouldAgreeWithModelOnRandomPrograms() throws Exception
    {
        runAll(Transport.RC, PROGRAMS);
    }

    @Test
    @Timeout(value = 240, unit = TimeUnit.SECONDS)
    void shouldAgreeWithModelOnSharedReceives() throws Exception
    {
        runAll(Transport.SHARED_RECEIVES, PROGRAMS / FEWER);
    }

    @Test
    @Timeout(value = 240, unit = TimeUnit.SECONDS)
    void shouldAgreeWithModelThroughMemoryWindow() throws Exception
    {
        runAll(Transport.WINDOW, PROGRAMS / FEWER);
    }

    @Test
    @Timeout(value = 240, unit = TimeUnit.SECONDS)
    void shouldAgreeWithModelOnUnreliableConnection() throws Exception
    {
        runAll(Transport.UC, PROGRAMS / FEWER);
    }

    private void runAll(final Transport chosen, final int programs) throws Exception
    {
        transport = chosen;
        for (long seed = FIRST_SEED; seed < FIRST_SEED + programs; seed++)
        {
            final List<Step> program = drawProgram(seed);
            final Throwable failure = run(program, seed);
            if (failure != null)
            {
                throw shrunk(program, seed, failure);
            }
        }
    }

    /** Leaves out what the failure does not need. */
    private AssertionError shrunk(final List<Step> program, final long seed, final Throwable firstFailure)
        throws Exception
    {
        List<Step> smallest = program;
        Throwable failure = firstFailure;
        int runs = 0;
        for (int i = smallest.size() - 1; i >= 0; i = Math.min(i, smallest.size()) - 1)
        {
            final int parts = smallest.get(i).batch() == null ? 1 : smallest.get(i).batch().size() + 1;
            for (int part = 0; part < parts && i < smallest.size() && runs < MOST_SHRINKING_RUNS; part++)
            {
                final List<Step> candidate = without(smallest, i, part - 1);
                final Throwable again = candidate == null ? null : run(candidate, seed);
                runs++;
                if (again != null)
                {
                    smallest = candidate;
                    failure = again;
                    break;
                }
            }
        }
        final StringBuilder message = new StringBuilder("fails with -Dverbena.verbs.seed=" + seed + " on " + transport +
            ", shrunk to " + smallest.size() + " steps: " + failure.getMessage());
        smallest.forEach(step -> message.append("\n  ").append(step));
        final AssertionError report = new AssertionError(message.toString(), failure);
        if (failure != firstFailure)
        {
            // Of the whole program, in case that it was another one.
            report.addSuppressed(firstFailure);
        }
        return report;
    }

    /**
     * A program without a step or, from 0 on, without a request of it; null when a SEND would find no receive, or a
     * batch would end without a completion, after which nobody could say when it is done.
     */
    private static List<Step> without(final List<Step> program, final int index, final int request)
    {
        final List<Step> result = new ArrayList<>(program);
        final Step step = result.remove(index);
        if (request >= 0 && step.batch() != null && step.batch().size() > 1 && request < step.batch().size())
        {
            final List<VerbsModel.Request> batch = new ArrayList<>(step.batch());
            batch.remove(request);
            if (0 == (batch.getLast().flags() & SIGNALED))
            {
                return null;
            }
            result.add(index, new Step(null, batch));
        }
        else if (request >= 0)
        {
            return null;
        }
        int receives = 0;
        for (final Step left : result)
        {
            receives += left.receive() != null ? 1 : -consumed(left.batch());
            if (receives < 0)
            {
                return null;
            }
        }
        return result;
    }

    private static int consumed(final List<VerbsModel.Request> batch)
    {
        return (int)batch.stream()
            .filter(request -> request.operation() == WorkCompletionOpcode.SEND || request.hasImmediate()).count();
    }

    /** Runs a program on fresh devices; what went wrong, or null. */
    private Throwable run(final List<Step> program, final long seed) throws Exception
    {
        try
        {
            connectTransport();
            fill(seed);
            for (int i = 0; i < program.size() && !model.isRequesterInError; i++)
            {
                run(program.get(i));
            }
            return null;
        }
        catch (final UnsupportedVerbException ex)
        {
            throw ex;
        }
        catch (final AssertionError | RuntimeException ex)
        {
            return ex;
        }
        finally
        {
            tearDown();
            setUp();
        }
    }

    private void connectTransport()
    {
        final boolean isWindow = transport == Transport.WINDOW;
        model = new VerbsModel(AREA_BYTES, isWindow ? WINDOW_OFFSET : 0,
            isWindow ? WINDOW_OFFSET + WINDOW_BYTES : AREA_BYTES, transport == Transport.SHARED_RECEIVES);
        remoteKey = b.region.remoteKey();
        shared = null;
        switch (transport)
        {
            case RC -> connect();
            case UC ->
            {
                a.use(a.options(QueuePairType.UC));
                b.use(b.options(QueuePairType.UC));
                connectBySteps(new QueuePairSteps());
            }
            case SHARED_RECEIVES ->
            {
                shared = b.domain.createSharedReceiveQueue(Endpoint.CAPABILITIES.maxReceiveRequests());
                b.use(b.options(QueuePairType.RC).sharedReceiveQueue(shared));
                own(() ->
                {
                    b.queuePair.close();
                    shared.close();
                });
                connect();
            }
            case WINDOW -> connectThroughWindow();
        }
    }

    private void connectThroughWindow()
    {
        final MemoryWindow window = b.domain.allocateMemoryWindow();
        final MemoryRegion region = b.domain.allocateRegistered(
            Endpoint.REGION_BYTES, AccessFlags.ALL_REMOTE | AccessFlags.MW_BIND);
        b.use(region);
        own(window);
        connect();
        remoteKey = window.nextRemoteKey();
        post(b, () -> b.queuePair.bindMemoryWindow(1, SIGNALED, window, window.nextRemoteKey(), region,
            region.address() + WINDOW_OFFSET, WINDOW_BYTES, AccessFlags.ALL_REMOTE & ~AccessFlags.LOCAL_WRITE));
        assertThat(awaitOne(b).status()).isZero();
    }

    private void fill(final long seed)
    {
        final SplittableRandom content = new SplittableRandom(~seed);
        for (int i = 0; i < AREA_BYTES; i += Long.BYTES)
        {
            final long value = content.nextInt(8) == 0 ? 0 : content.nextLong();
            model.requester.putLong(i, value);
            model.responder.putLong(i, ~value);
        }
        a.put(0, model.requester.array());
        b.put(0, model.responder.array());
    }

    private void run(final Step step)
    {
        if (step.receive() != null)
        {
            final VerbsModel.Receive receive = step.receive();
            model.receives.add(receive);
            assertThat(shared == null ? receive(receive.wrId(), receive.offset(), receive.lengthBytes()) :
                shared.postReceive(receive.wrId(), b.address(receive.offset()), receive.lengthBytes(), b.key()))
                .isZero();
            return;
        }
        postBatch(step.batch());
        compare();
    }

    private List<Step> drawProgram(final long seed)
    {
        random = new SplittableRandom(seed);
        nextWrId = 0;
        final List<Step> program = new ArrayList<>();
        int receives = 0;
        for (int batch = 0; batch < BATCHES; batch++)
        {
            for (; receives < RECEIVES_READY; receives++)
            {
                program.add(new Step(new VerbsModel.Receive(nextWrId++,
                    random.nextInt(AREA_BYTES - RECEIVE_BYTES), random.nextInt(8, RECEIVE_BYTES)), null));
            }
            final int count = random.nextInt(1, 6);
            final List<VerbsModel.Request> requests = new ArrayList<>();
            for (int i = 0; i < count; i++)
            {
                requests.add(draw(i == count - 1));
            }
            receives -= consumed(requests);
            program.add(new Step(null, requests));
        }
        return program;
    }

    private void postBatch(final List<VerbsModel.Request> requests)
    {
        final List<byte[]> payloads = new ArrayList<>();
        a.queuePair.begin();
        for (final VerbsModel.Request request : requests)
        {
            payloads.add(request.isInline() ? localBytes(request) : null);
            stage(request);
        }
        assertThat(a.queuePair.complete()).isEqualTo(PostStatus.OK);
        for (int i = 0; i < requests.size(); i++)
        {
            model.execute(requests.get(i), payloads.get(i));
        }
    }

    private byte[] localBytes(final VerbsModel.Request request)
    {
        final byte[] bytes = new byte[request.lengthBytes()];
        model.requester.get(request.localOffset(), bytes);
        return bytes;
    }

    private VerbsModel.Request draw(final boolean isLast)
    {
        final boolean isUnreliable = transport == Transport.UC;
        final int operation = random.nextInt(isUnreliable ? 2 : 5);
        final boolean isAtomic = operation > WorkCompletionOpcode.RDMA_READ;
        final boolean mayInline = operation <= WorkCompletionOpcode.RDMA_WRITE;
        int length = isAtomic ? 8 : random.nextInt(8) == 0 ? 0 : random.nextInt(1, MAX_LENGTH_BYTES);
        if (operation == WorkCompletionOpcode.SEND && (isUnreliable || random.nextInt(20) != 0))
        {
            length = Math.min(length, 8);
        }
        int flags = isLast || random.nextBoolean() ? SendFlags.SIGNALED : 0;
        // Strict order, as the model has it, needs the fence where the contract gives none.
        flags |= isUnreliable ? 0 : SendFlags.FENCE;
        boolean isLocalGood = true;
        int local = random.nextInt(AREA_BYTES - MAX_LENGTH_BYTES);
        if (mayInline && length <= Endpoint.CAPABILITIES.maxInlineBytes() && random.nextInt(4) == 0)
        {
            flags |= SendFlags.INLINE;
            isLocalGood = false;
        }
        else if (random.nextInt(60) == 0)
        {
            isLocalGood = false;
        }
        else if (random.nextInt(60) == 0)
        {
            local = AREA_BYTES - random.nextInt(1, 8);
        }
        return new VerbsModel.Request(
            operation, nextWrId++, flags, local, length, isLocalGood, drawRemote(isAtomic),
            isUnreliable || random.nextInt(60) != 0,
            mayInline && random.nextInt(4) == 0, random.nextInt(), random.nextInt(3) == 0 ? -1 : 0, random.nextLong());
    }

    private int drawRemote(final boolean isAtomic)
    {
        if (transport != Transport.UC && random.nextInt(60) == 0)
        {
            return random.nextBoolean() ? -random.nextInt(1, 64) : AREA_BYTES - random.nextInt(1, 8);
        }
        // A small area, so that requests meet.
        final int offset = transport == Transport.WINDOW ?
            WINDOW_OFFSET + random.nextInt(WINDOW_BYTES / 2) : random.nextInt(512);
        return isAtomic && random.nextInt(30) != 0 ? offset & ~7 : offset;
    }

    private void stage(final VerbsModel.Request request)
    {
        final QueuePair queuePair = a.queuePair;
        final long local = a.address(request.localOffset());
        final int localKey = request.isLocalKeyGood() ? a.key() : a.key() + 1;
        final long remote = b.address(request.remoteOffset());
        final int key = request.isRemoteKeyGood() ? this.remoteKey : this.remoteKey + 1;
        final int length = firstBytes(request);
        switch (request.operation())
        {
            case WorkCompletionOpcode.RDMA_READ ->
                queuePair.read(request.wrId(), request.flags(), local, length, localKey, remote, key);
            case WorkCompletionOpcode.COMP_SWAP -> queuePair.compareSwap(
                request.wrId(), request.flags(), local, localKey, remote, key, request.operand(),
                request.desired());
            case WorkCompletionOpcode.FETCH_ADD -> queuePair.fetchAdd(
                request.wrId(), request.flags(), local, localKey, remote, key, request.operand());
            case WorkCompletionOpcode.RDMA_WRITE -> stageWrite(request, local, localKey, remote, key);
            default -> stageSend(request, local, localKey);
        }
        stageRest(request, local + length, request.lengthBytes() - length, localKey);
    }

    /**
     * How many bytes are in the first place: one half of the requests have two or three. What a READ that fails has
     * placed before is free, so such a one has a single place.
     */
    private int firstBytes(final VerbsModel.Request request)
    {
        final boolean isAtomic = request.operation() > WorkCompletionOpcode.RDMA_READ;
        final boolean isBadRead = request.operation() == WorkCompletionOpcode.RDMA_READ &&
            (!request.isLocalKeyGood() || request.localOffset() > AREA_BYTES - request.lengthBytes());
        return isAtomic || isBadRead || request.desired() < 0 || a.device.attributes().maxSendSegments() < 3 ?
            request.lengthBytes() : (int)(request.desired() % (request.lengthBytes() + 1));
    }

    private void stageRest(
        final VerbsModel.Request request, final long local, final int lengthBytes, final int localKey)
    {
        if (lengthBytes > 0)
        {
            final int second = (int)((request.desired() >>> 32) % (lengthBytes + 1));
            a.queuePair.addSegment(local, second, localKey);
            a.queuePair.addSegment(local + second, lengthBytes - second, localKey);
        }
    }

    private void stageWrite(
        final VerbsModel.Request request, final long local, final int localKey, final long remote, final int remoteKey)
    {
        if (request.hasImmediate())
        {
            a.queuePair.writeWithImmediate(
                request.wrId(), request.flags(), local, firstBytes(request), localKey, remote, remoteKey,
                request.immediate());
        }
        else
        {
            a.queuePair.write(
                request.wrId(), request.flags(), local, firstBytes(request), localKey, remote, remoteKey);
        }
    }

    private void stageSend(final VerbsModel.Request request, final long local, final int localKey)
    {
        if (request.hasImmediate())
        {
            a.queuePair.sendWithImmediate(
                request.wrId(), request.flags(), local, firstBytes(request), localKey, request.immediate());
        }
        else
        {
            a.queuePair.send(request.wrId(), request.flags(), local, firstBytes(request), localKey);
        }
    }

    private void compare()
    {
        compareCompletions(a, model.requesterCompletions);
        compareCompletions(b, model.responderCompletions);
        if (transport == Transport.UC)
        {
            // Completed means sent, not arrived: a thread that takes what arrives may have no processor for a while.
            settle();
            for (int i = 0; i < MOST_SETTLES && !Arrays.equals(b.bytes(0, AREA_BYTES), model.responder.array()); i++)
            {
                settle();
            }
        }
        final QueuePairState failed = transport == Transport.UC ? QueuePairState.SQE : QueuePairState.ERR;
        assertThat(a.queuePair.state()).isEqualTo(model.isRequesterInError ? failed : QueuePairState.RTS);
        // The requester's completion says nothing of it: it may be in ERR only a moment later.
        for (int i = 0; i < MOST_SETTLES && model.isResponderInError && b.queuePair.state() != QueuePairState.ERR; i++)
        {
            settle();
        }
        assertThat(b.queuePair.state())
            .isEqualTo(model.isResponderInError ? QueuePairState.ERR : QueuePairState.RTS);
        assertThat(a.bytes(0, AREA_BYTES)).as("requester's memory").isEqualTo(model.requester.array());
        assertThat(b.bytes(0, AREA_BYTES)).as("responder's memory").isEqualTo(model.responder.array());
        assertThat(a.queuePair.sendQueueSpace()).isEqualTo(Endpoint.CAPABILITIES.maxSendRequests());
    }

    private void compareCompletions(final Endpoint endpoint, final List<VerbsModel.Expected> expected)
    {
        final List<VerbsModel.Expected> actual = new ArrayList<>();
        for (final Completion completion : await(endpoint, expected.size()))
        {
            actual.add(completion.status() == WorkCompletionStatus.SUCCESS ?
                new VerbsModel.Expected(
                    completion.wrId(), completion.status(), completion.opcode(), completion.byteLength(),
                    completion.immediate()) :
                VerbsModel.Expected.failed(completion.wrId(), completion.status()));
        }
        assertThat(actual).isEqualTo(expected);
        expected.clear();
    }
}
