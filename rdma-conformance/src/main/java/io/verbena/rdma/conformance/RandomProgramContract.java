package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionOpcode;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;

/** Random programs, good and bad requests mixed, do on a provider exactly what they do on {@link VerbsModel}. */
public abstract class RandomProgramContract extends VerbsHarness
{
    private static final int PROGRAMS = Integer.getInteger("verbena.verbs.programs", 300);
    private static final long FIRST_SEED = Long.getLong("verbena.verbs.seed", 1);
    private static final int AREA_BYTES = Endpoint.REGION_BYTES;
    private static final int MAX_LENGTH_BYTES = 200;
    private static final int RECEIVE_BYTES = 128;

    private SplittableRandom random;
    private VerbsModel model;
    private long nextWrId;

    @Test
    void shouldAgreeWithModelOnRandomPrograms() throws Exception
    {
        for (long seed = FIRST_SEED; seed < FIRST_SEED + PROGRAMS; seed++)
        {
            try
            {
                runProgram(seed);
            }
            catch (final AssertionError | RuntimeException ex)
            {
                throw new AssertionError("fails with -Dverbena.verbs.seed=" + seed + ": " + ex.getMessage(), ex);
            }
            tearDown();
            setUp();
        }
    }

    private void runProgram(final long seed)
    {
        random = new SplittableRandom(seed);
        model = new VerbsModel(AREA_BYTES);
        nextWrId = 0;
        connect();
        fill();
        for (int batch = 0; batch < 12 && !model.isRequesterInError; batch++)
        {
            postReceives();
            postBatch();
            compare();
        }
    }

    private void fill()
    {
        for (int i = 0; i < AREA_BYTES; i += Long.BYTES)
        {
            final long value = random.nextInt(8) == 0 ? 0 : random.nextLong();
            model.requester.putLong(i, value);
            model.responder.putLong(i, ~value);
        }
        a.put(0, model.requester.array());
        b.put(0, model.responder.array());
    }

    private void postReceives()
    {
        while (model.receives.size() < 6)
        {
            final VerbsModel.Receive receive = new VerbsModel.Receive(
                nextWrId++, random.nextInt(AREA_BYTES - RECEIVE_BYTES), random.nextInt(8, RECEIVE_BYTES));
            model.receives.add(receive);
            assertThat(receive(receive.wrId(), receive.offset(), receive.lengthBytes())).isZero();
        }
    }

    private void postBatch()
    {
        final int count = random.nextInt(1, 6);
        final List<VerbsModel.Request> requests = new ArrayList<>();
        final List<byte[]> payloads = new ArrayList<>();
        a.queuePair.begin();
        for (int i = 0; i < count; i++)
        {
            final VerbsModel.Request request = draw(i == count - 1);
            requests.add(request);
            payloads.add(request.isInline() ? localBytes(request) : null);
            stage(request);
        }
        assertThat(a.queuePair.complete()).isEqualTo(PostStatus.OK);
        for (int i = 0; i < count; i++)
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
        final int operation = random.nextInt(5);
        final boolean isAtomic = operation > WorkCompletionOpcode.RDMA_READ;
        final boolean mayInline = operation <= WorkCompletionOpcode.RDMA_WRITE;
        int length = isAtomic ? 8 : random.nextInt(8) == 0 ? 0 : random.nextInt(1, MAX_LENGTH_BYTES);
        if (operation == WorkCompletionOpcode.SEND && random.nextInt(20) != 0)
        {
            length = Math.min(length, 8);
        }
        int flags = isLast || random.nextBoolean() ? SendFlags.SIGNALED : 0;
        // Strict order, as the model has it, needs the fence where the contract gives none.
        flags |= SendFlags.FENCE;
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
            operation, nextWrId++, flags, local, length, isLocalGood, drawRemote(isAtomic), random.nextInt(60) != 0,
            mayInline && random.nextInt(4) == 0, random.nextInt(), random.nextInt(3) == 0 ? -1 : 0, random.nextLong());
    }

    private int drawRemote(final boolean isAtomic)
    {
        if (random.nextInt(60) == 0)
        {
            return random.nextBoolean() ? -random.nextInt(1, 64) : AREA_BYTES - random.nextInt(1, 8);
        }
        // A small area, so that requests meet.
        final int offset = random.nextInt(512);
        return isAtomic && random.nextInt(30) != 0 ? offset & ~7 : offset;
    }

    private void stage(final VerbsModel.Request request)
    {
        final QueuePair queuePair = a.queuePair;
        final long local = a.address(request.localOffset());
        final int localKey = request.isLocalKeyGood() ? a.key() : a.key() + 1;
        final long remote = b.address(request.remoteOffset());
        final int remoteKey = request.isRemoteKeyGood() ? b.key() : b.key() + 1;
        final int length = request.lengthBytes();
        switch (request.operation())
        {
            case WorkCompletionOpcode.RDMA_READ ->
                queuePair.read(request.wrId(), request.flags(), local, length, localKey, remote, remoteKey);
            case WorkCompletionOpcode.COMP_SWAP -> queuePair.compareSwap(
                request.wrId(), request.flags(), local, localKey, remote, remoteKey, request.operand(),
                request.desired());
            case WorkCompletionOpcode.FETCH_ADD -> queuePair.fetchAdd(
                request.wrId(), request.flags(), local, localKey, remote, remoteKey, request.operand());
            case WorkCompletionOpcode.RDMA_WRITE -> stageWrite(request, local, localKey, remote, remoteKey);
            default -> stageSend(request, local, localKey);
        }
    }

    private void stageWrite(
        final VerbsModel.Request request, final long local, final int localKey, final long remote, final int remoteKey)
    {
        if (request.hasImmediate())
        {
            a.queuePair.writeWithImmediate(
                request.wrId(), request.flags(), local, request.lengthBytes(), localKey, remote, remoteKey,
                request.immediate());
        }
        else
        {
            a.queuePair.write(
                request.wrId(), request.flags(), local, request.lengthBytes(), localKey, remote, remoteKey);
        }
    }

    private void stageSend(final VerbsModel.Request request, final long local, final int localKey)
    {
        if (request.hasImmediate())
        {
            a.queuePair.sendWithImmediate(
                request.wrId(), request.flags(), local, request.lengthBytes(), localKey, request.immediate());
        }
        else
        {
            a.queuePair.send(request.wrId(), request.flags(), local, request.lengthBytes(), localKey);
        }
    }

    private void compare()
    {
        compareCompletions(a, model.requesterCompletions);
        compareCompletions(b, model.responderCompletions);
        assertThat(a.queuePair.state())
            .isEqualTo(model.isRequesterInError ? QueuePairState.ERR : QueuePairState.RTS);
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
