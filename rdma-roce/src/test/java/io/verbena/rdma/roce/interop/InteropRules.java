package io.verbena.rdma.roce.interop;

import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;

import static io.verbena.rdma.roce.interop.InteropPair.equal;
import static io.verbena.rdma.verbs.SendFlags.SIGNALED;
import static io.verbena.rdma.verbs.SendFlags.SOLICITED;

/** What two implementations have to do with each other; each rule gets a fresh pair, not connected yet. */
final class InteropRules
{
    static final int FAR = InteropSide.REGION_BYTES / 2;
    private static final int GRH_BYTES = 40;
    static final long MILLISECOND_NS = 1_000_000;
    private static final int[] MTUS = {256, 512, 1024, 2048, 4096};

    private static final String UNALIGNED = "RC: atomic that is not aligned: REM_INV_REQ_ERR";
    private static final String TOO_LONG = "RC: SEND longer than the receive: REM_INV_REQ_ERR";
    static final String NEXT = "UC: a message with a lost packet is gone, the next one is not";

    /** What rxe does otherwise, by who requests and the rule; the value is why. */
    static final Map<String, String> KNOWN = Map.of(
        "rxe>verbena " + UNALIGNED, "its library refuses to post it",
        "verbena>rxe " + TOO_LONG, "it answers REM_OP_ERR",
        "verbena>rxe " + NEXT, "it drops the first packet of the next one, too (do_class_d1e_error of rxe_resp.c)");

    private final Map<String, Consumer<InteropPair>> rules = new LinkedHashMap<>();

    InteropRules()
    {
        for (final int mtu : MTUS)
        {
            rules.put("RC mtu " + mtu + ": WRITE, READ, SEND of every length around packets",
                (pair) -> lengths(pair, mtu));
        }
        rules.put("RC: immediate data, of SEND and WRITE", InteropRules::immediates);
        rules.put("RC: CAS and FETCH_ADD", InteropRules::atomics);
        rules.put("RC: WRITE of 512 KiB, READ of 512 KiB", InteropRules::large);
        rules.put("RC: 200 mixed requests, several outstanding", (pair) -> DisturbedRules.mixed(pair, 1, 0, 0, 0));
        rules.put("RC: length 0", InteropRules::empty);
        rules.put("RC: SEND with invalidate", InteropRules::invalidate);
        rules.put("RC: memory window, inside and after it was unbound", InteropRules::window);
        rules.put("RC: no receive yet: RNR, then delivered", InteropRules::notReady);
        rules.put("RC: no receive at all: RNR_RETRY_EXC_ERR", InteropRules::neverReady);
        rules.put("RC: wrong key, WRITE: REM_ACCESS_ERR", (pair) -> wrongKey(pair, RoceOpcode.IS_WRITE));
        rules.put("RC: wrong key, READ: REM_ACCESS_ERR", (pair) -> wrongKey(pair, 0));
        rules.put("RC: wrong key, atomic: REM_ACCESS_ERR", (pair) -> wrongKey(pair, RoceOpcode.HAS_ATOMIC_ETH));
        rules.put("RC: WRITE behind the end of a region: REM_ACCESS_ERR", InteropRules::bounds);
        rules.put("RC: region without the right: REM_ACCESS_ERR", InteropRules::rights);
        rules.put("RC: queue pair without the right: REM_INV_REQ_ERR or REM_ACCESS_ERR", InteropRules::noRights);
        rules.put(UNALIGNED, InteropRules::unaligned);
        rules.put(TOO_LONG, InteropRules::tooLong);
        rules.put("RC: peer gone: RETRY_EXC_ERR", InteropRules::gone);
        rules.put("RC: what was posted before a refused request is done", InteropRules::before);
        rules.put("UC: SEND, WRITE, immediate", InteropRules::unreliable);
        DisturbedRules.addTo(rules);
        rules.put("UD: SEND, immediate, sender's number, routing header", InteropRules::datagrams);
        rules.put("UD: wrong qkey: dropped", InteropRules::wrongQkey);
    }

    Map<String, Consumer<InteropPair>> all()
    {
        return rules;
    }

    static void fill(final InteropSide side, final long offset, final int lengthBytes, final long seed)
    {
        final byte[] bytes = new byte[lengthBytes];
        new SplittableRandom(seed).nextBytes(bytes);
        MemorySegment.copy(bytes, 0, side.memory(offset, lengthBytes), ValueLayout.JAVA_BYTE, 0, lengthBytes);
    }

    private static void lengths(final InteropPair pair, final int mtu)
    {
        pair.mtu = mtu;
        pair.connect(QueuePairType.RC);
        final InteropSide a = pair.a;
        final InteropSide b = pair.b;
        int done = 0;
        int received = 0;
        for (final int length : new int[]{1, 3, 8, mtu - 1, mtu, mtu + 1, 2 * mtu, 2 * mtu + 2, 17 * mtu + 3})
        {
            fill(a, 0, length, length);
            pair.post(() -> pair.qa.write(7, SIGNALED, a.at(0), length, a.localKey(), b.at(FAR), b.key()));
            pair.succeeded(a, done++);
            pair.same("WRITE", 0, FAR, length);
            fill(b, FAR, length, length + 1);
            pair.post(() -> pair.qa.read(8, SIGNALED, a.at(0), length, a.localKey(), b.at(FAR), b.key()));
            pair.succeeded(a, done++);
            pair.same("READ", 0, FAR, length);
            fill(a, 0, length, length + 2);
            pair.receive(9, FAR, length);
            pair.post(() -> pair.qa.send(10, SIGNALED, a.at(0), length, a.localKey()));
            pair.succeeded(a, done++);
            pair.succeeded(b, received);
            equal("bytes of the SEND", length, b.polled.get(received++).bytes());
            pair.same("SEND", 0, FAR, length);
        }
    }

    private static void immediates(final InteropPair pair)
    {
        pair.connect(QueuePairType.RC);
        final InteropSide a = pair.a;
        final InteropSide b = pair.b;
        fill(a, 0, 3000, 5);
        pair.receive(1, FAR, 4096);
        pair.receive(2, 0, 4096);
        pair.post(() -> pair.qa.sendWithImmediate(
            3, SIGNALED | SOLICITED, a.at(0), 3000, a.localKey(), 0x8123_4567));
        pair.succeeded(a, 0);
        pair.succeeded(b, 0);
        equal("immediate", 0x8123_4567, b.polled.get(0).immediate());
        pair.same("SEND", 0, FAR, 3000);
        pair.post(() -> pair.qa.writeWithImmediate(
            4, SIGNALED, a.at(0), 3000, a.localKey(), b.at(FAR + 8192), b.key(), 0x0102_0304));
        pair.succeeded(a, 1);
        pair.succeeded(b, 1);
        equal("immediate", 0x0102_0304, b.polled.get(1).immediate());
        equal("receive", 2, b.polled.get(1).wrId());
        equal("flag", WorkCompletions.WITH_IMMEDIATE, b.polled.get(1).flags() & WorkCompletions.WITH_IMMEDIATE);
        pair.same("WRITE", 0, FAR + 8192, 3000);
    }

    private static void atomics(final InteropPair pair)
    {
        pair.connect(QueuePairType.RC);
        final InteropSide a = pair.a;
        final InteropSide b = pair.b;
        b.word(64, 40);
        pair.post(() -> pair.qa.fetchAdd(1, SIGNALED, a.at(0), a.localKey(), b.at(64), b.key(), 0x1_0000_0002L));
        pair.succeeded(a, 0);
        equal("original", 40, a.word(0));
        equal("sum", 0x1_0000_002AL, b.word(64));
        pair.post(() -> pair.qa.compareSwap(
            2, SIGNALED, a.at(8), a.localKey(), b.at(64), b.key(), 0x1_0000_002AL, -5));
        pair.succeeded(a, 1);
        equal("original", 0x1_0000_002AL, a.word(8));
        equal("swapped", -5, b.word(64));
        pair.post(() -> pair.qa.compareSwap(3, SIGNALED, a.at(16), a.localKey(), b.at(64), b.key(), 7, 8));
        pair.succeeded(a, 2);
        equal("original", -5, a.word(16));
        equal("not swapped", -5, b.word(64));
    }

    private static void large(final InteropPair pair)
    {
        pair.mtu = 4096;
        pair.connect(QueuePairType.RC);
        final InteropSide a = pair.a;
        final InteropSide b = pair.b;
        fill(a, 0, FAR, 5);
        pair.post(() -> pair.qa.write(1, SIGNALED, a.at(0), FAR, a.localKey(), b.at(FAR), b.key()));
        pair.succeeded(a, 0);
        pair.same("WRITE", 0, FAR, FAR);
        pair.post(() -> pair.qa.read(2, SIGNALED, a.at(FAR), FAR, a.localKey(), b.at(FAR), b.key()));
        pair.succeeded(a, 1);
        pair.same("READ", FAR, FAR, FAR);
    }

    private static void empty(final InteropPair pair)
    {
        pair.connect(QueuePairType.RC);
        final InteropSide a = pair.a;
        final InteropSide b = pair.b;
        pair.receive(1, FAR, 64);
        pair.post(
            () -> pair.qa.write(1, SIGNALED, a.at(0), 0, a.localKey(), b.at(0), b.key()),
            () -> pair.qa.read(2, SIGNALED, a.at(0), 0, a.localKey(), b.at(0), b.key()),
            () -> pair.qa.send(3, SIGNALED, a.at(0), 0, a.localKey()));
        for (int i = 0; i < 3; i++)
        {
            pair.succeeded(a, i);
        }
        pair.succeeded(b, 0);
        equal("bytes", 0, b.polled.get(0).bytes());
    }

    private static MemoryWindow bind(final InteropPair pair)
    {
        final InteropSide b = pair.b;
        final MemoryWindow window = b.domain().allocateMemoryWindow();
        pair.qb.begin();
        pair.qb.bindMemoryWindow(77, SIGNALED, window, window.nextRemoteKey(), b.region(), b.at(FAR), 4096,
            AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE);
        equal("post", 0, pair.qb.complete());
        pair.succeeded(b, 0);
        b.polled.clear();
        return window;
    }

    private static void invalidate(final InteropPair pair)
    {
        pair.connect(QueuePairType.RC);
        final InteropSide a = pair.a;
        final InteropSide b = pair.b;
        try (MemoryWindow window = bind(pair))
        {
            final int key = window.remoteKey();
            pair.post(() -> pair.qa.write(1, SIGNALED, a.at(0), 64, a.localKey(), b.at(FAR), key));
            pair.succeeded(a, 0);
            pair.receive(2, 0, 64);
            pair.post(() -> pair.qa.sendWithInvalidate(3, SIGNALED, a.at(0), 8, a.localKey(), key));
            pair.succeeded(a, 1);
            pair.succeeded(b, 0);
            equal("bytes", 8, b.polled.get(0).bytes());
            pair.post(() -> pair.qa.write(4, SIGNALED, a.at(0), 64, a.localKey(), b.at(FAR), key));
            pair.status(a, 2, WorkCompletionStatus.REM_ACCESS_ERR);
        }
    }

    private static void window(final InteropPair pair)
    {
        pair.connect(QueuePairType.RC);
        final InteropSide a = pair.a;
        final InteropSide b = pair.b;
        try (MemoryWindow window = bind(pair))
        {
            fill(b, FAR, 4096, 3);
            final int key = window.remoteKey();
            pair.post(() -> pair.qa.read(1, SIGNALED, a.at(0), 4096, a.localKey(), b.at(FAR), key));
            pair.succeeded(a, 0);
            pair.same("READ", 0, FAR, 4096);
            pair.qb.begin();
            pair.qb.localInvalidate(78, SIGNALED, key);
            equal("post", 0, pair.qb.complete());
            pair.succeeded(b, 0);
            pair.post(() -> pair.qa.read(2, SIGNALED, a.at(0), 8, a.localKey(), b.at(FAR), key));
            pair.status(a, 1, WorkCompletionStatus.REM_ACCESS_ERR);
        }
    }

    private static void notReady(final InteropPair pair)
    {
        pair.connect(QueuePairType.RC);
        final InteropSide a = pair.a;
        final InteropSide b = pair.b;
        fill(a, 0, 5000, 9);
        pair.post(() -> pair.qa.send(1, SIGNALED, a.at(0), 5000, a.localKey()),
            () -> pair.qa.write(2, SIGNALED, a.at(0), 64, a.localKey(), b.at(0), b.key()));
        pair.settle(MILLISECOND_NS);
        equal("completions", 0, a.polled.size());
        pair.receive(3, FAR, 8192);
        pair.succeeded(a, 0);
        pair.succeeded(a, 1);
        pair.succeeded(b, 0);
        pair.same("SEND", 0, FAR, 5000);
    }

    private static void neverReady(final InteropPair pair)
    {
        pair.rnrRetries = 1;
        pair.connect(QueuePairType.RC);
        pair.post(() -> pair.qa.send(1, SIGNALED, pair.a.at(0), 8, pair.a.localKey()));
        pair.status(pair.a, 0, WorkCompletionStatus.RNR_RETRY_EXC_ERR);
    }

    private static void wrongKey(final InteropPair pair, final int kind)
    {
        pair.connect(QueuePairType.RC);
        final InteropSide a = pair.a;
        final InteropSide b = pair.b;
        final int key = b.key() ^ 0x55;
        b.word(0, 99);
        pair.post(() ->
        {
            switch (kind)
            {
                case RoceOpcode.IS_WRITE -> pair.qa.write(1, SIGNALED, a.at(0), 5000, a.localKey(), b.at(0), key);
                case 0 -> pair.qa.read(1, SIGNALED, a.at(0), 5000, a.localKey(), b.at(0), key);
                default -> pair.qa.fetchAdd(1, SIGNALED, a.at(0), a.localKey(), b.at(0), key, 1);
            }
        });
        pair.status(a, 0, WorkCompletionStatus.REM_ACCESS_ERR);
        equal("word", 99, b.word(0));
        equal("state", QueuePairState.ERR.ordinal(), pair.qa.state().ordinal());
    }

    private static void bounds(final InteropPair pair)
    {
        pair.connect(QueuePairType.RC);
        pair.post(() -> pair.qa.write(1, SIGNALED, pair.a.at(0), 4096, pair.a.localKey(),
            pair.b.at(InteropSide.REGION_BYTES - 4095), pair.b.key()));
        pair.status(pair.a, 0, WorkCompletionStatus.REM_ACCESS_ERR);
    }

    private static void rights(final InteropPair pair)
    {
        pair.connect(QueuePairType.RC);
        try (MemoryRegion readable = pair.b.domain().allocateRegistered(
            4096, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ))
        {
            pair.post(() -> pair.qa.read(
                1, SIGNALED, pair.a.at(0), 64, pair.a.localKey(), readable.address(), readable.remoteKey()));
            pair.succeeded(pair.a, 0);
            pair.post(() -> pair.qa.write(
                2, SIGNALED, pair.a.at(0), 64, pair.a.localKey(), readable.address(), readable.remoteKey()));
            pair.status(pair.a, 1, WorkCompletionStatus.REM_ACCESS_ERR);
        }
    }

    private static void noRights(final InteropPair pair)
    {
        pair.rights = AccessFlags.REMOTE_WRITE;
        pair.connect(QueuePairType.RC);
        pair.post(() -> pair.qa.read(
            1, SIGNALED, pair.a.at(0), 64, pair.a.localKey(), pair.b.at(0), pair.b.key()));
        final int status = pair.done(pair.a, 0).status();
        if (WorkCompletionStatus.REM_INV_REQ_ERR != status && WorkCompletionStatus.REM_ACCESS_ERR != status)
        {
            throw new AssertionError(pair.a + " has " + WorkCompletionStatus.text(status));
        }
    }

    private static void unaligned(final InteropPair pair)
    {
        pair.connect(QueuePairType.RC);
        pair.post(() -> pair.qa.fetchAdd(
            1, SIGNALED, pair.a.at(0), pair.a.localKey(), pair.b.at(4), pair.b.key(), 1));
        pair.status(pair.a, 0, WorkCompletionStatus.REM_INV_REQ_ERR);
        equal("word", 0, pair.b.word(0));
    }

    private static void tooLong(final InteropPair pair)
    {
        pair.connect(QueuePairType.RC);
        pair.receive(1, FAR, 2000);
        pair.post(() -> pair.qa.send(2, SIGNALED, pair.a.at(0), 2001, pair.a.localKey()));
        pair.status(pair.a, 0, WorkCompletionStatus.REM_INV_REQ_ERR);
        pair.status(pair.b, 0, WorkCompletionStatus.LOC_LEN_ERR);
    }

    private static void gone(final InteropPair pair)
    {
        pair.timeout = 12;
        pair.retries = 2;
        pair.connect(QueuePairType.RC);
        pair.qb.moveToError();
        pair.post(() -> pair.qa.write(1, SIGNALED, pair.a.at(0), 8, pair.a.localKey(), pair.b.at(0), pair.b.key()));
        pair.status(pair.a, 0, WorkCompletionStatus.RETRY_EXC_ERR);
    }

    private static void before(final InteropPair pair)
    {
        pair.connect(QueuePairType.RC);
        final InteropSide a = pair.a;
        final InteropSide b = pair.b;
        fill(a, 0, 4000, 1);
        fill(b, FAR, 20_000, 2);
        pair.post(
            () -> pair.qa.write(1, SIGNALED, a.at(0), 4000, a.localKey(), b.at(0), b.key()),
            () -> pair.qa.read(2, SIGNALED, a.at(FAR), 20_000, a.localKey(), b.at(FAR), b.key()),
            () -> pair.qa.fetchAdd(3, SIGNALED, a.at(8192), a.localKey(), b.at(8192), b.key(), 3),
            () -> pair.qa.write(4, SIGNALED, a.at(0), 8, a.localKey(), b.at(16_384), b.key() ^ 0x55),
            () -> pair.qa.write(5, SIGNALED, a.at(0), 8, a.localKey(), b.at(24_576), b.key()));
        for (int i = 0; i < 3; i++)
        {
            pair.succeeded(a, i);
        }
        pair.status(a, 3, WorkCompletionStatus.REM_ACCESS_ERR);
        pair.status(a, 4, WorkCompletionStatus.WR_FLUSH_ERR);
        pair.same("WRITE", 0, 0, 4000);
        pair.same("READ", FAR, FAR, 20_000);
        equal("sum", 3, b.word(8192));
        equal("behind the refused one", 0, b.word(24_576));
    }

    private static void unreliable(final InteropPair pair)
    {
        pair.connect(QueuePairType.UC);
        final InteropSide a = pair.a;
        final InteropSide b = pair.b;
        fill(a, 0, 5000, 4);
        pair.receive(1, FAR, 8192);
        pair.receive(2, 0, 8192);
        pair.post(() -> pair.qa.send(3, SIGNALED, a.at(0), 5000, a.localKey()));
        pair.succeeded(a, 0);
        pair.succeeded(b, 0);
        pair.same("SEND", 0, FAR, 5000);
        pair.post(
            () -> pair.qa.write(4, SIGNALED, a.at(0), 5000, a.localKey(), b.at(FAR + 8192), b.key()),
            () -> pair.qa.writeWithImmediate(
                5, SIGNALED, a.at(0), 100, a.localKey(), b.at(FAR + 16_384), b.key(), 77));
        pair.succeeded(a, 2);
        pair.succeeded(b, 1);
        equal("immediate", 77, b.polled.get(1).immediate());
        pair.same("WRITE", 0, FAR + 8192, 5000);
        pair.same("WRITE", 0, FAR + 16_384, 100);
    }

    private static void datagrams(final InteropPair pair)
    {
        pair.connect(QueuePairType.UD);
        final InteropSide a = pair.a;
        final InteropSide b = pair.b;
        fill(a, 0, 1000, 4);
        try (AddressHandle handle = a.domain().createAddressHandle(b.address()))
        {
            for (int i = 0; i < 4; i++)
            {
                final int length = new int[]{1000, 1, 0, 999}[i];
                final boolean hasImmediate = i % 2 == 1;
                pair.receive(i, FAR, 2048);
                pair.post(() ->
                {
                    if (hasImmediate)
                    {
                        pair.qa.sendWithImmediate(9, SIGNALED, a.at(0), length, a.localKey(), 0x7654_3210);
                    }
                    else
                    {
                        pair.qa.send(9, SIGNALED, a.at(0), length, a.localKey());
                    }
                    pair.qa.toQueuePair(handle, pair.qb.number(), InteropPair.QKEY);
                });
                pair.succeeded(a, i);
                pair.succeeded(b, i);
                final InteropSide.Completion received = b.polled.get(i);
                equal("bytes", GRH_BYTES + length, received.bytes());
                equal("source", pair.qa.number(), received.source());
                equal("flag", WorkCompletions.WITH_GRH, received.flags() & WorkCompletions.WITH_GRH);
                equal("immediate", hasImmediate ? 0x7654_3210 : 0, hasImmediate ? received.immediate() : 0);
                pair.same("SEND", 0, FAR + GRH_BYTES, length);
                equal("IP version", 6, b.memory(FAR, 1).get(ValueLayout.JAVA_BYTE, 0) >> 4 & 0xF);
                equal("sender", a.address().gidLow(),
                    Long.reverseBytes(b.memory(FAR + 16, 8).get(ValueLayout.JAVA_LONG_UNALIGNED, 0)));
            }
        }
    }

    private static void wrongQkey(final InteropPair pair)
    {
        pair.connect(QueuePairType.UD);
        final InteropSide a = pair.a;
        try (AddressHandle handle = a.domain().createAddressHandle(pair.b.address()))
        {
            pair.receive(1, FAR, 2048);
            for (final int qkey : new int[]{InteropPair.QKEY + 1, InteropPair.QKEY})
            {
                final int length = qkey == InteropPair.QKEY ? 8 : 16;
                pair.post(() ->
                {
                    pair.qa.send(9, SIGNALED, a.at(0), length, a.localKey());
                    pair.qa.toQueuePair(handle, pair.qb.number(), qkey);
                });
            }
            pair.succeeded(pair.b, 0);
            equal("bytes", GRH_BYTES + 8, pair.b.polled.get(0).bytes());
        }
    }
}
