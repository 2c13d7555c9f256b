package io.verbena.rdma.roce.interop;

import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.verbs.QueuePairType;

import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Predicate;

import static io.verbena.rdma.roce.interop.InteropPair.equal;
import static io.verbena.rdma.roce.interop.InteropRules.FAR;
import static io.verbena.rdma.roce.interop.InteropRules.MILLISECOND_NS;
import static io.verbena.rdma.roce.interop.InteropRules.fill;
import static io.verbena.rdma.verbs.SendFlags.SIGNALED;

/** Rules of two implementations on a wire that loses, repeats and delays packets. */
final class DisturbedRules
{
    private static final int SEEDS = Integer.getInteger("verbena.interop.seeds", 2);
    private static final long ARRIVED_NS = 500 * MILLISECOND_NS;

    private DisturbedRules()
    {
    }

    static void addTo(final Map<String, Consumer<InteropPair>> rules)
    {
        rules.put("RC: lost request", (pair) -> lostPacket(pair, true));
        rules.put("RC: lost acknowledgement", (pair) -> lostPacket(pair, false));
        rules.put("RC: lost packet in the middle of a WRITE", DisturbedRules::lostMiddle);
        rules.put("RC: lost responses in the middle of a READ", DisturbedRules::lostResponses);
        rules.put("RC: lost answer of an atomic, replayed once", DisturbedRules::lostAtomic);
        rules.put("RC: lost answers of several atomics and READs", DisturbedRules::lostAnswers);
        for (int seed = 1; seed <= SEEDS; seed++)
        {
            final int used = seed;
            rules.put("RC: 3 % lost, seed " + seed, (pair) -> mixed(pair, used, 0.03, 0, 0));
            rules.put("RC: 10 % repeated, seed " + seed, (pair) -> mixed(pair, used, 0, 0.1, 0));
            rules.put("RC: 5 % overtaken, seed " + seed, (pair) -> mixed(pair, used, 0, 0, 0.05));
            rules.put("RC: 2 % lost, 3 % repeated, 3 % overtaken, seed " + seed,
                (pair) -> mixed(pair, used, 0.02, 0.03, 0.03));
        }
        rules.put(InteropRules.NEXT, (pair) -> unreliableLoss(pair, 1));
        rules.put("UC: a message with a lost packet is gone, the one after the next is not",
            (pair) -> unreliableLoss(pair, 2));
    }

    /** Requests of all kinds, up to 16 outstanding, and each checked; sums show how often the atomics were executed. */
    static void mixed(
        final InteropPair pair, final long seed, final double lost, final double repeated, final double held)
    {
        pair.mtu = 512;
        pair.timeout = 14;
        pair.connect(QueuePairType.RC);
        final InteropSide a = pair.a;
        final InteropSide b = pair.b;
        final SplittableRandom random = new SplittableRandom(seed);
        pair.ours.wire.rates(seed, lost, repeated, held);
        final int rounds = 25;
        final int slot = 8192;
        long sum = 0;
        int sends = 0;
        int done = 0;
        for (int round = 0; round < rounds; round++)
        {
            fill(a, 0, 2 * slot, round);
            fill(b, FAR + 4 * slot, slot, round + 1000);
            final int write = 1 + random.nextInt(slot);
            final int send = 1 + random.nextInt(slot);
            final int read = 1 + random.nextInt(slot);
            final long addend = random.nextInt(1000);
            final long before = sum;
            pair.receive(round, FAR + slot, slot);
            pair.post(
                () -> pair.qa.write(1, 0, a.at(0), write, a.localKey(), b.at(FAR), b.key()),
                () -> pair.qa.fetchAdd(2, 0, a.at(4 * slot), a.localKey(), b.at(8), b.key(), addend),
                () -> pair.qa.read(3, 0, a.at(FAR), read, a.localKey(), b.at(FAR + 4 * slot), b.key()),
                () -> pair.qa.compareSwap(4, 0, a.at(4 * slot + 8), a.localKey(), b.at(8), b.key(),
                    before + addend, before + addend + 1),
                () -> pair.qa.send(5, SIGNALED, a.at(slot), send, a.localKey()),
                () -> pair.qa.read(6, 0, a.at(FAR + slot), 8, a.localKey(), b.at(FAR), b.key()),
                () -> pair.qa.fetchAdd(7, 0, a.at(4 * slot + 16), a.localKey(), b.at(8), b.key(), 1),
                () -> pair.qa.write(8, SIGNALED, a.at(0), 8, a.localKey(), b.at(FAR + 3 * slot), b.key()));
            pair.succeeded(a, done++);
            pair.succeeded(a, done++);
            pair.succeeded(b, sends);
            sum += addend + 2;
            equal("bytes of SEND " + sends, send, b.polled.get(sends++).bytes());
            pair.same("WRITE", 0, FAR, write);
            pair.same("SEND", slot, FAR + slot, send);
            pair.same("READ", FAR, FAR + 4 * slot, read);
            equal("FETCH_ADD's original", before, a.word(4 * slot));
            equal("CAS's original", before + addend, a.word(4 * slot + 8));
            equal("second FETCH_ADD's original", before + addend + 1, a.word(4 * slot + 16));
            equal("sum", sum, b.word(8));
        }
        if (lost + repeated + held > 0 && pair.ours.wire.faults == 0)
        {
            throw new AssertionError("no packet was disturbed");
        }
    }

    /** The first of some packets with one trait that passes in one direction. */
    private static Predicate<RocePacket> nth(final int skipped, final int traits)
    {
        final int[] seen = {0};
        return (packet) -> (RoceOpcode.traits(BthDescriptor.opcode(packet.buffer(), 0)) & traits) == traits &&
            seen[0]++ == skipped;
    }

    /** Of what goes from the requester to the responder, or back. */
    private static void lose(final InteropPair pair, final boolean isRequest, final Predicate<RocePacket> which)
    {
        if (isRequest == (pair.a == pair.ours))
        {
            pair.ours.wire.loseOut(which);
        }
        else
        {
            pair.ours.wire.loseIn(which);
        }
    }

    private static void disturbed(final InteropPair pair, final long before)
    {
        if (pair.ours.wire.faults == before)
        {
            throw new AssertionError("no packet was lost");
        }
    }

    private static void lostPacket(final InteropPair pair, final boolean isRequest)
    {
        pair.timeout = 13;
        pair.connect(QueuePairType.RC);
        final InteropSide a = pair.a;
        final InteropSide b = pair.b;
        fill(a, 0, 500, 4);
        pair.receive(1, FAR, 512);
        pair.receive(2, FAR + 512, 512);
        final long before = pair.ours.wire.faults;
        lose(pair, isRequest, nth(0, isRequest ? RoceOpcode.IS_SEND : RoceOpcode.HAS_AETH));
        pair.post(() -> pair.qa.send(3, SIGNALED, a.at(0), 500, a.localKey()));
        pair.succeeded(a, 0);
        pair.succeeded(b, 0);
        pair.same("SEND", 0, FAR, 500);
        pair.settle(5 * MILLISECOND_NS);
        equal("receives taken", 1, b.polled.size());
        disturbed(pair, before);
    }

    private static void lostMiddle(final InteropPair pair)
    {
        pair.timeout = 13;
        pair.connect(QueuePairType.RC);
        final InteropSide a = pair.a;
        final InteropSide b = pair.b;
        fill(a, 0, 40_000, 4);
        final long before = pair.ours.wire.faults;
        lose(pair, true, nth(7, RoceOpcode.IS_WRITE));
        pair.post(() -> pair.qa.write(1, SIGNALED, a.at(0), 40_000, a.localKey(), b.at(FAR), b.key()));
        pair.succeeded(a, 0);
        pair.same("WRITE", 0, FAR, 40_000);
        disturbed(pair, before);
    }

    private static void lostResponses(final InteropPair pair)
    {
        pair.timeout = 13;
        pair.connect(QueuePairType.RC);
        final InteropSide a = pair.a;
        final InteropSide b = pair.b;
        fill(b, FAR, 40_000, 4);
        final long before = pair.ours.wire.faults;
        final int[] seen = {0};
        lose(pair, false, (packet) -> seen[0]++ % 9 == 5 && seen[0] < 40);
        pair.post(() -> pair.qa.read(1, SIGNALED, a.at(0), 40_000, a.localKey(), b.at(FAR), b.key()));
        pair.succeeded(a, 0);
        pair.same("READ", 0, FAR, 40_000);
        disturbed(pair, before);
    }

    private static void lostAtomic(final InteropPair pair)
    {
        pair.timeout = 13;
        pair.connect(QueuePairType.RC);
        final InteropSide a = pair.a;
        final InteropSide b = pair.b;
        b.word(0, 10);
        final long before = pair.ours.wire.faults;
        lose(pair, false, nth(0, RoceOpcode.HAS_AETH));
        pair.post(() -> pair.qa.fetchAdd(1, SIGNALED, a.at(0), a.localKey(), b.at(0), b.key(), 5));
        pair.succeeded(a, 0);
        equal("original", 10, a.word(0));
        equal("sum", 15, b.word(0));
        disturbed(pair, before);
    }

    private static void lostAnswers(final InteropPair pair)
    {
        pair.timeout = 13;
        pair.connect(QueuePairType.RC);
        final InteropSide a = pair.a;
        final InteropSide b = pair.b;
        final long before = pair.ours.wire.faults;
        final int[] seen = {0};
        lose(pair, false, (packet) -> seen[0]++ < 4);
        fill(b, FAR, 2000, 1);
        pair.post(
            () -> pair.qa.fetchAdd(1, 0, a.at(0), a.localKey(), b.at(0), b.key(), 1),
            () -> pair.qa.read(2, 0, a.at(FAR), 2000, a.localKey(), b.at(FAR), b.key()),
            () -> pair.qa.fetchAdd(3, 0, a.at(8), a.localKey(), b.at(0), b.key(), 1),
            () -> pair.qa.compareSwap(4, 0, a.at(16), a.localKey(), b.at(0), b.key(), 2, 50),
            () -> pair.qa.read(5, 0, a.at(FAR + 4096), 2000, a.localKey(), b.at(FAR), b.key()),
            () -> pair.qa.fetchAdd(6, SIGNALED, a.at(24), a.localKey(), b.at(0), b.key(), 1));
        pair.succeeded(a, 0);
        equal("first", 0, a.word(0));
        equal("second", 1, a.word(8));
        equal("CAS", 2, a.word(16));
        equal("last", 50, a.word(24));
        equal("sum", 51, b.word(0));
        pair.same("READ", FAR, FAR, 2000);
        pair.same("READ", FAR + 4096, FAR, 2000);
        disturbed(pair, before);
    }

    /** @param behind how many messages behind the lost one there is one that has to arrive. */
    private static void unreliableLoss(final InteropPair pair, final int behind)
    {
        pair.connect(QueuePairType.UC);
        final InteropSide a = pair.a;
        final InteropSide b = pair.b;
        fill(a, 0, 5000, 4);
        pair.receive(1, FAR, 8192);
        lose(pair, true, nth(2, RoceOpcode.IS_SEND));
        pair.post(() -> pair.qa.send(3, SIGNALED, a.at(0), 5000, a.localKey()));
        for (int i = 1; i <= behind; i++)
        {
            final int number = i;
            pair.receive(i + 1, 0, 8192);
            pair.post(() -> pair.qa.sendWithImmediate(4, SIGNALED, a.at(0), 5000 - number, a.localKey(), number));
        }
        pair.succeeded(a, behind);
        if (!pair.reach(() -> b.polled.stream().anyMatch((received) -> received.immediate() == behind), ARRIVED_NS))
        {
            throw new AssertionError(b + " did not receive message " + behind + " behind the lost one: " + b.polled);
        }
    }
}
