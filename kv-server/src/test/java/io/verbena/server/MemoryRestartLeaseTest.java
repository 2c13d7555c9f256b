package io.verbena.server;

import io.verbena.meta.MetaServerConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/** A memory node that starts again long before its lease has run out. */
@Timeout(180)
class MemoryRestartLeaseTest extends MemoryRestartRig
{
    /** Longer than {@code start} waits: a node that had to wait for its end would not be ready by then. */
    @Override
    MetaServerConfiguration metaServer()
    {
        return new MetaServerConfiguration().leaseNs(10 * STEP_NS);
    }

    @Test
    void shouldBeLetInAtOnceThoughTheLifeBeforeHasALease()
    {
        final RoleRunner first = memory;
        end();
        memory = start(openMemory());
        assertThat(first.isReady()).isFalse();
        assertThat(table.get(KEY).orElseThrow().value()).isEqualTo(VALUE);
    }
}
