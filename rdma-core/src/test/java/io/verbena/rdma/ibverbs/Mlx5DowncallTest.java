package io.verbena.rdma.ibverbs;

import com.sun.management.ThreadMXBean;

import io.verbena.rdma.ibverbs.library.CompletionId;
import io.verbena.rdma.ibverbs.library.Errno;
import io.verbena.rdma.ibverbs.library.HeldPointer;
import io.verbena.rdma.ibverbs.library.Mlx5Library;
import io.verbena.rdma.ibverbs.library.Mlx5SendQueue;
import io.verbena.rdma.ibverbs.library.SendRing;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.VerbCounters;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What arrives behind the function pointers of mlx5: a library compiled from {@code recording-mlx5.c}, with the types
 * of the real header, stands for libmlx5 and writes down each call. There is no mlx5 RNIC here.
 */
@SuppressWarnings("restricted")
class Mlx5DowncallTest
{
    private static final int SERIAL = 5;
    private static final long HANDLE = 0xA0A0_0000_1000L;
    private static final HeldPointer WAY = new HeldPointer(HANDLE);
    private static final long KEY = 0x8182_8384_8586_8788L;

    @TempDir
    private static Path folder;

    private final Arena arena = Arena.ofConfined();
    private final VerbCounters counters = new VerbCounters();
    private long posted;
    private SymbolLookup lookup;
    private Mlx5Library library;

    @BeforeEach
    void setUp() throws IOException, InterruptedException
    {
        final Path file = folder.resolve("librecording.so");
        if (!Files.exists(file))
        {
            final Path source = folder.resolve("recording-mlx5.c");
            try (InputStream stream = Mlx5DowncallTest.class.getResourceAsStream("recording-mlx5.c"))
            {
                Files.copy(stream, source, StandardCopyOption.REPLACE_EXISTING);
            }
            CCompiler.compile("infiniband/mlx5dv.h", file, source, "-shared", "-fPIC");
        }
        lookup = SymbolLookup.libraryLookup(file, arena);
        library = new Mlx5Library(lookup, lookup);
        recorded();
        answer(0);
        set("be_quiet", 0);
    }

    @AfterEach
    void tearDown()
    {
        arena.close();
    }

    private String recorded()
    {
        try
        {
            return MemorySegment.ofAddress((long)Linker.nativeLinker().downcallHandle(
                lookup.findOrThrow("recorded"), FunctionDescriptor.of(JAVA_LONG)).invokeExact())
                .reinterpret(1 << 16).getString(0);
        }
        catch (final Throwable ex)
        {
            throw new AssertionError(ex);
        }
    }

    private void answer(final int errno)
    {
        set("answer", errno);
    }

    private void set(final String function, final int value)
    {
        try
        {
            Linker.nativeLinker().downcallHandle(
                lookup.findOrThrow(function), FunctionDescriptor.ofVoid(JAVA_INT)).invokeExact(value);
        }
        catch (final Throwable ex)
        {
            throw new AssertionError(ex);
        }
    }

    private static SendRing ring(final int capacity)
    {
        return new SendRing(QueuePairType.DC_INITIATOR, new QueuePairCapabilities(capacity, 0, 16, 0, 3), 1 << 20);
    }

    private Mlx5SendQueue sends()
    {
        final Mlx5SendQueue queue = library.sendQueue(
            library.createInitiator("test", 0x10, 0x20, 0x30, 0x40, new QueuePairCapabilities(8, 0, 16, 0, 3)));
        recorded();
        return queue;
    }

    private static long stage(final SendRing ring, final int opcode, final long wrId, final int flags, final int length)
    {
        final long slot = ring.stage(opcode, wrId, flags, 0x1_0000_0000L + wrId, length, 0x70 + (int)wrId);
        ring.memory().set(JAVA_LONG, slot + SendRing.REMOTE_ADDRESS, 0x2_0000_0000L + wrId);
        ring.memory().set(JAVA_INT, slot + SendRing.REMOTE_KEY, 0x90 + (int)wrId);
        return slot;
    }

    private static void atomic(final SendRing ring, final int opcode, final long wrId)
    {
        final long slot = stage(ring, opcode, wrId, SendFlags.SIGNALED, Long.BYTES);
        ring.memory().set(JAVA_INT, slot + SendRing.ATOMIC_KEY, 0x90 + (int)wrId);
        ring.memory().set(JAVA_LONG, slot + SendRing.COMPARE_ADD, -2);
        ring.memory().set(JAVA_LONG, slot + SendRing.SWAP, Long.MIN_VALUE);
        ring.toDcTarget(WAY, 0xABCDEF, KEY);
    }

    @Test
    void shouldCallWhatTheHeaderNamesInOrderWithTheseArguments()
    {
        final SendRing ring = ring(8);
        ring.begin(this);
        stage(ring, SendRing.RDMA_READ, 1, SendFlags.SIGNALED | SendFlags.FENCE, 64);
        ring.toDcTarget(WAY, 0xABCDEF, KEY);
        stage(ring, SendRing.RDMA_WRITE, 2, 0, 0);
        ring.toDcTarget(new HeldPointer(HANDLE + 8), 7, -1);
        ring.immediate(stage(ring, SendRing.RDMA_WRITE_WITH_IMM, 3, SendFlags.SOLICITED, 5), 0x0102_0304);
        ring.toDcTarget(WAY, 0xABCDEF, KEY);
        stage(ring, SendRing.SEND, 4, 0, 6);
        ring.toDcTarget(WAY, 0xABCDEF, KEY);
        ring.immediate(stage(ring, SendRing.SEND_WITH_IMM, 5, 0, 6), -2);
        ring.toDcTarget(WAY, 0xABCDEF, KEY);
        atomic(ring, SendRing.ATOMIC_CMP_AND_SWP, 6);
        atomic(ring, SendRing.ATOMIC_FETCH_AND_ADD, 7);
        assertThat(ring.end(this)).isEqualTo(7);

        assertThat(ring.post(sends(), SERIAL, 7, counters)).isZero();
        final String target = "target ah=a0a000001000 dctn=abcdef key=8182838485868788\n";
        assertThat(recorded()).isEqualTo("start\n" +
            "id=500000000 flags=3 read rkey=91 address=200000001\nsge lkey=71 address=100000001 length=64\n" + target +
            "id=500000001 flags=0 write rkey=92 address=200000002\nsge lkey=72 address=100000002 length=0\n" +
            "target ah=a0a000001008 dctn=7 key=ffffffffffffffff\n" +
            "id=500000002 flags=4 write rkey=93 address=200000003 immediate=1020304\n" +
            "sge lkey=73 address=100000003 length=5\n" + target +
            "id=500000003 flags=0 send\nsge lkey=74 address=100000004 length=6\n" + target +
            "id=500000004 flags=0 send immediate=fffffffe\nsge lkey=75 address=100000005 length=6\n" + target +
            "id=500000005 flags=2 compare rkey=96 address=200000006 with=fffffffffffffffe swap=8000000000000000\n" +
            "sge lkey=76 address=100000006 length=8\n" + target +
            "id=500000006 flags=2 add rkey=97 address=200000007 addend=fffffffffffffffe\n" +
            "sge lkey=77 address=100000007 length=8\n" + target + "complete\n");
        assertThat(counters.reads + counters.writes + counters.sends + counters.compareSwaps + counters.fetchAdds)
            .isEqualTo(7);
        assertThat(counters.doorbells).isEqualTo(1);
    }

    @Test
    void shouldGiveSeveralPlacesAsOneList()
    {
        final SendRing ring = ring(2);
        ring.begin(this);
        stage(ring, SendRing.RDMA_WRITE, 1, 0, 64);
        ring.addSegment(0x3_0000_0000L, 0, 0x80);
        ring.addSegment(0x4_0000_0000L, 9, 0x81);
        ring.toDcTarget(WAY, 1, KEY);
        final int count = ring.end(this);

        assertThat(ring.post(sends(), SERIAL, count, counters)).isZero();
        assertThat(recorded()).contains("write rkey=91 address=200000001\nlist of 2\n" +
            "sge lkey=71 address=100000001 length=64\nsge lkey=81 address=400000000 length=9\ntarget ");
    }

    @Test
    void shouldGiveInlinePayloadAsItWasWhenStaged()
    {
        final SendRing ring = ring(2);
        final MemorySegment payload = arena.allocate(8, 8);
        payload.setString(0, "before");
        ring.begin(this);
        ring.stage(SendRing.SEND, 1, SendFlags.INLINE | SendFlags.SIGNALED, payload.address(), 7, 0);
        ring.toDcTarget(WAY, 1, KEY);
        payload.setString(0, "after!");
        final int count = ring.end(this);

        assertThat(ring.post(sends(), SERIAL, count, counters)).isZero();
        assertThat(recorded()).contains("flags=2 send\ninline 'before' length=7\n").doesNotContain("sge");
    }

    @Test
    void shouldGoAroundTheRing()
    {
        final SendRing ring = ring(2);
        final Mlx5SendQueue sends = sends();
        for (int batch = 0; batch < 3; batch++)
        {
            ring.begin(this);
            stage(ring, SendRing.SEND, batch, SendFlags.SIGNALED, 1);
            ring.toDcTarget(WAY, batch, KEY);
            assertThat(ring.post(sends, SERIAL, ring.end(this), counters)).isZero();
            assertThat(recorded()).contains("id=50000000" + batch, "lkey=" + Integer.toHexString(0x70 + batch),
                "dctn=" + batch);
            ring.release(ring.position(CompletionId.of(SERIAL, false, batch)));
        }
        assertThat(ring.space()).isEqualTo(2);
    }

    @Test
    void shouldHavePostedNothingWhenCompletionIsRefused()
    {
        final SendRing ring = ring(2);
        ring.begin(this);
        stage(ring, SendRing.SEND, 1, 0, 1);
        ring.toDcTarget(WAY, 1, KEY);
        final int count = ring.end(this);
        final Mlx5SendQueue sends = sends();
        answer(Errno.ENOMEM);

        assertThat(ring.post(sends, SERIAL, count, counters)).isEqualTo(Errno.ENOMEM);
        assertThat(ring.isPartlyPosted()).isFalse();
        assertThat(ring.space()).isEqualTo(2);
        assertThat(counters.sends + counters.doorbells).isZero();
    }

    @Test
    void shouldAllocateNothingWhenPosting()
    {
        final SendRing ring = ring(8);
        final Mlx5SendQueue sends = sends();
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        set("be_quiet", 1);
        long allocated = Long.MAX_VALUE;
        // The first rounds load classes and are compiled; a steady zero is what counts.
        for (int attempt = 0; attempt < 5 && allocated != 0; attempt++)
        {
            final long before = threads.getCurrentThreadAllocatedBytes();
            post(ring, sends, 20_000);
            allocated = threads.getCurrentThreadAllocatedBytes() - before;
        }
        assertThat(allocated).isZero();
    }

    private void post(final SendRing ring, final Mlx5SendQueue sends, final int count)
    {
        for (int i = 0; i < count; i++)
        {
            ring.begin(this);
            stage(ring, SendRing.RDMA_READ, 1, 0, 64);
            ring.toDcTarget(WAY, 1, KEY);
            atomic(ring, SendRing.ATOMIC_CMP_AND_SWP, 2);
            atomic(ring, SendRing.ATOMIC_FETCH_AND_ADD, 3);
            ring.immediate(stage(ring, SendRing.SEND_WITH_IMM, 4, SendFlags.SIGNALED, 8), 9);
            ring.toDcTarget(WAY, 1, KEY);
            ring.post(sends, SERIAL, ring.end(this), counters);
            ring.release(ring.position(CompletionId.of(SERIAL, false, posted += 4) - 1));
        }
    }

    @Test
    void shouldDescribeInitiatorWithoutReceiveQueue()
    {
        assertThat(library.createInitiator("test", 0x10, 0x20, 0x30, 0x40, new QueuePairCapabilities(128, 0, 64, 0, 3)))
            .isNotZero();
        assertThat(recorded()).isEqualTo("create context=10 pd=20 send_cq=30 recv_cq=40 srq=0 type=ff comp_mask=41 " +
            "ops=7f max_send_wr=128 max_send_sge=3 max_inline_data=64 max_recv_wr=0 max_recv_sge=0 sq_sig_all=0 " +
            "dv_mask=2 dc_type=2 access_key=0\n");
    }

    @Test
    void shouldDescribeTargetWithItsKeyAndSharedReceives()
    {
        assertThat(library.createTarget("test", 0x10, 0x20, 0x30, 0x50, KEY)).isNotZero();
        assertThat(recorded()).isEqualTo("create context=10 pd=20 send_cq=30 recv_cq=30 srq=50 type=ff comp_mask=1 " +
            "ops=0 max_send_wr=0 max_send_sge=0 max_inline_data=0 max_recv_wr=0 max_recv_sge=0 sq_sig_all=0 " +
            "dv_mask=2 dc_type=1 access_key=8182838485868788\n");
    }

    @Test
    void shouldTellWhyQueuePairCannotBeMade()
    {
        answer(Errno.EOPNOTSUPP);
        assertThatThrownBy(() -> library.createTarget("cannot create a DC target", 0x10, 0x20, 0x30, 0x50, KEY))
            .isInstanceOf(RdmaException.class).hasMessageContaining("cannot create a DC target (mlx5dv_create_qp)")
            .hasMessageContaining("EOPNOTSUPP");
    }

    @Test
    void shouldKnowDevicesOfTheLibrary()
    {
        assertThat(library.isSupported(0x1000)).isTrue();
        assertThat(library.isSupported(0x1001)).isFalse();
    }
}
