package io.verbena.resp;

import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Timeout;

import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** All that {@link RespServerTest} tests, where one thread serves the connections and the node. */
@Timeout(90)
class RespDrivenServerTest extends RespServerTest
{
    private Thread driver;
    private volatile boolean isEnding;

    @Override
    MapEndpoint endpoint()
    {
        return MapEndpoint.driven(7);
    }

    @Override
    RespServer open(final RespConfiguration configuration, final MapEndpoint node)
    {
        final RespServer server =
            RespServer.openDriven(configuration, node, SystemNanoClock.INSTANCE, node::serve);
        driver = RespServer.driver(() ->
        {
            while (!isEnding)
            {
                server.await(TimeUnit.MILLISECONDS.toNanos(1));
                node.serve();
                server.takeAnswers();
            }
            server.close();
        }, "driver");
        driver.start();
        return server;
    }

    @Override
    void close(final RespServer opened)
    {
        isEnding = true;
        try
        {
            driver.join(TimeUnit.SECONDS.toMillis(30));
        }
        catch (final InterruptedException ex)
        {
            throw new IllegalStateException(ex);
        }
        assertThat(driver.isAlive()).isFalse();
    }
}
