package io.verbena.resp;

import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.AfterEach;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import static org.assertj.core.api.Assertions.assertThat;

/** One server with a thread of its own before one node with another; or driven, one thread for both. */
abstract class ServerFixture
{
    final MapEndpoint endpoint = isDriven() ? MapEndpoint.driven(7) : new MapEndpoint(7);
    RespServer server;
    private Thread driver;
    private volatile boolean isEnding;

    /** Whether one thread serves the connections and the node; asked once, before the fields of a subclass are set. */
    boolean isDriven()
    {
        return false;
    }

    /** Opens the server at a free port, which it returns. */
    final int open(final RespConfiguration configuration)
    {
        configuration.port(0);
        if (isDriven())
        {
            server = RespServer.openDriven(configuration, endpoint, SystemNanoClock.INSTANCE, endpoint::serve);
            driver = RespServer.driver(this::drive, "driver");
            driver.start();
        }
        else
        {
            server = RespServer.open(configuration, endpoint, SystemNanoClock.INSTANCE, () -> { });
        }
        return server.port();
    }

    private void drive()
    {
        while (!isEnding)
        {
            server.await(TimeUnit.MILLISECONDS.toNanos(1));
            endpoint.serve();
            server.takeAnswers();
        }
        server.close();
    }

    @AfterEach
    void close() throws InterruptedException
    {
        if (null != driver)
        {
            isEnding = true;
            driver.join(TimeUnit.SECONDS.toMillis(30));
            assertThat(driver.isAlive()).isFalse();
        }
        else if (null != server)
        {
            server.close();
        }
        endpoint.close();
    }

    static void await(final String what, final BooleanSupplier isSo)
    {
        final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!isSo.getAsBoolean())
        {
            assertThat(System.nanoTime()).as(what).isLessThan(deadlineNs);
            LockSupport.parkNanos(1_000_000);
        }
    }
}
