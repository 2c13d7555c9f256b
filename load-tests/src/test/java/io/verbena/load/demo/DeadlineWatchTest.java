package io.verbena.load.demo;

import io.verbena.client.KvClient;
import io.verbena.client.KvTable;
import io.verbena.client.KvTimeoutException;
import io.verbena.client.TableOptions;
import io.verbena.load.InMemoryStore;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class DeadlineWatchTest
{
    private static final long TIMEOUT_NS = 1_000_000_000;
    private static final byte[] KEY = {1};

    private long nowNs;
    private long tookNs;
    private boolean fails;
    private final DeadlineWatch watch = new DeadlineWatch(() -> nowNs, TIMEOUT_NS);
    private final KvClient store = new InMemoryStore().client();
    private final KvTable table = watch.watch(InMemoryStore.intercepted(store, (name, args, call) ->
    {
        nowNs += tookNs;
        if (fails)
        {
            throw new KvTimeoutException("planted");
        }
        return call.proceed();
    })).createTable("a", TableOptions.DEFAULTS);

    @Test
    void shouldCountNothingThatEndsInTime()
    {
        tookNs = TIMEOUT_NS + DeadlineWatch.TOLERANCE_NS;
        table.put(KEY, KEY);

        assertThat(table.get(KEY).orElseThrow().value()).isEqualTo(KEY);
        assertThat(watch.late()).isZero();
        assertThat(watch.longestNs()).isEqualTo(tookNs);
    }

    @Test
    void shouldCountWhatEndsLateHoweverItEnds()
    {
        tookNs = TIMEOUT_NS + DeadlineWatch.TOLERANCE_NS + 1;
        table.put(KEY, KEY);
        fails = true;

        assertThatThrownBy(() -> table.get(KEY)).isInstanceOf(KvTimeoutException.class).hasMessage("planted");
        assertThat(watch.late()).isEqualTo(2);
    }
}
