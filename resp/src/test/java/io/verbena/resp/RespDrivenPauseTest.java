package io.verbena.resp;

import org.junit.jupiter.api.Timeout;

/** All that {@link RespPauseTest} tests, where one thread serves the connections and the node. */
@Timeout(90)
class RespDrivenPauseTest extends RespPauseTest
{
    @Override
    boolean isDriven()
    {
        return true;
    }
}
