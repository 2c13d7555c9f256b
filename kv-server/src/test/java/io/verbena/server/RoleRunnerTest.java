package io.verbena.server;

import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.Device;
import io.verbena.server.metrics.Measurements;

import org.junit.jupiter.api.Test;

import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** How long a role sleeps that has nothing to do. */
class RoleRunnerTest
{
    private record IdleRole(Device device, long idleNs) implements Role
    {
        IdleRole(final boolean wakes, final long idleNs)
        {
            this((Device)Proxy.newProxyInstance(Device.class.getClassLoader(), new Class<?>[] {Device.class},
                (proxy, method, arguments) -> "wakesForConnections".equals(method.getName()) ? wakes : null), idleNs);
        }

        @Override
        public String name()
        {
            return "idle";
        }

        @Override
        public CompletionChannel completionChannel()
        {
            return null;
        }

        @Override
        public int doWork()
        {
            return 0;
        }

        @Override
        public boolean isReady()
        {
            return true;
        }

        @Override
        public String failure()
        {
            return "";
        }

        @Override
        public void drain()
        {
        }

        @Override
        public boolean isDrained()
        {
            return true;
        }

        @Override
        public void measure(final Measurements measurements)
        {
            throw new UnsupportedOperationException("nobody measures it");
        }

        @Override
        public Map<String, Object> health()
        {
            return Map.of();
        }

        @Override
        public void close()
        {
        }
    }

    private static long sleepMs(final boolean wakes, final long idleMs)
    {
        return TimeUnit.NANOSECONDS.toMillis(
            RoleRunner.sleepNs(new IdleRole(wakes, TimeUnit.MILLISECONDS.toNanos(idleMs))));
    }

    @Test
    void shouldSleepUntilSomethingIsDue()
    {
        assertThat(sleepMs(true, 60)).isEqualTo(60);
        assertThat(sleepMs(true, 5_000)).as("the end is noticed").isEqualTo(200);
    }

    @Test
    void shouldLookOftenWhileItIsNotKnownWhatIsDue()
    {
        assertThat(sleepMs(true, 0)).isEqualTo(20);
        assertThat(sleepMs(true, -3)).isEqualTo(20);
    }

    @Test
    void shouldLookOftenForConnectionsThatWakeNobody()
    {
        assertThat(sleepMs(false, 60)).isEqualTo(20);
    }
}
