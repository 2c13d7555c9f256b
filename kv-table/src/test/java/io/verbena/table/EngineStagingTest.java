package io.verbena.table;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import io.verbena.table.operation.TableRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Operations that have key and value, and are begun or withdrawn afterwards. */
class EngineStagingTest
{
    private static final byte[] KEY = "key".getBytes(StandardCharsets.UTF_8);

    private EngineFixture fixture;
    private OpenTable table;

    @BeforeEach
    void open()
    {
        fixture = EngineFixture.single();
        table = fixture.createTable(0, 16);
    }

    @AfterEach
    void close()
    {
        fixture.close();
    }

    private static byte[] bytes(final int length)
    {
        final byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    private TableRequest put(final byte[] key, final byte[] value)
    {
        return new TableRequest().of(OperationKind.PUT, table, fixture.nowNs + 1_000_000_000L, 1)
            .key(key).value(value);
    }

    private EngineFixture.Outcome begin(final TableRequest request)
    {
        fixture.outcome = null;
        assertThat(fixture.engine.begin(request)).isTrue();
        return fixture.finish();
    }

    private byte[] get(final byte[] key)
    {
        final TableRequest get =
            new TableRequest().of(OperationKind.GET, table, fixture.nowNs + 1_000_000_000L, 1).key(key);
        return begin(get).result() == OperationResult.FOUND ? fixture.lastValue.toArray(ValueLayout.JAVA_BYTE) : null;
    }

    @Test
    void shouldCopyArraysOfEveryLength()
    {
        for (final int length : new int[]{0, 1, 3, 4, 7, 8, 9, 12, 15, 16, 255, 256, 257, 1000, 16_384})
        {
            final byte[] key = bytes(Math.max(1, length));
            assertThat(begin(put(key, bytes(length))).result()).isEqualTo(OperationResult.STORED);
            assertThat(get(key)).as("length %d", length).isEqualTo(bytes(length));
        }
    }

    @Test
    void shouldUseTheArraysNoMoreOnceTheyAreStaged()
    {
        for (final int length : new int[]{8, 4096})
        {
            final byte[] key = bytes(5);
            final byte[] value = bytes(length);
            fixture.outcome = null;
            assertThat(fixture.engine.stage(put(key, value))).isTrue();
            Arrays.fill(key, (byte)0xEE);
            Arrays.fill(value, (byte)0xEE);
            fixture.engine.beginStaged();
            assertThat(fixture.finish().result()).isEqualTo(OperationResult.STORED);
            assertThat(get(bytes(5))).isEqualTo(bytes(length));
            assertThat(get(key)).isNull();
        }
    }

    @Test
    void shouldForgetWhatIsWithdrawn()
    {
        final int slots = fixture.engine.freeSlots();
        final long posted = fixture.port.counters.verbs();
        for (int i = 0; i < 3 * slots; i++)
        {
            assertThat(fixture.engine.stage(put(KEY, KEY))).isTrue();
            fixture.engine.withdrawStaged();
        }
        fixture.outcome = null;
        fixture.engine.poll();
        assertThat(fixture.outcome).as("nobody hears of them").isNull();
        assertThat(fixture.port.counters.verbs()).isEqualTo(posted);
        assertThat(fixture.engine.freeSlots()).isEqualTo(slots);
        assertThat(fixture.engine.active()).isZero();
        assertThat(fixture.engine.passedEpoch()).isEqualTo(fixture.engine.epoch() - 1);
        assertThat(get(KEY)).isNull();
        assertThat(begin(put(KEY, KEY)).result()).isEqualTo(OperationResult.STORED);
    }

    @Test
    void shouldStageOneOperationAtATime()
    {
        assertThatThrownBy(fixture.engine::beginStaged).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(fixture.engine::withdrawStaged).isInstanceOf(IllegalStateException.class);
        fixture.engine.stage(put(KEY, KEY));
        assertThatThrownBy(() -> fixture.engine.stage(put(KEY, KEY))).isInstanceOf(IllegalStateException.class);
        fixture.engine.beginStaged();
        assertThatThrownBy(fixture.engine::beginStaged).isInstanceOf(IllegalStateException.class);
        assertThat(fixture.finish().result()).isEqualTo(OperationResult.STORED);
    }

    @Test
    void shouldTakeWhatWasGivenLast()
    {
        final TableRequest request = put(KEY, bytes(3));
        final byte[] other = bytes(20);
        request.key(MemorySegment.ofArray(other), 4, 10)
            .value(MemorySegment.ofArray(other), 1, 7);
        assertThat(begin(request).result()).isEqualTo(OperationResult.STORED);
        assertThat(get(Arrays.copyOfRange(other, 4, 14))).isEqualTo(Arrays.copyOfRange(other, 1, 8));
        assertThatThrownBy(() -> request.key(new byte[0])).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> request.value(new byte[16_385])).isInstanceOf(IllegalArgumentException.class);
    }
}
