package io.verbena.server;

import org.junit.jupiter.api.Test;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** {@link PacedWarning}. */
class PacedWarningTest
{
    private static final long PERIOD_NS = TimeUnit.SECONDS.toNanos(10);
    /** Clocks may overflow while they run. */
    private static final long BEGIN_NS = Long.MAX_VALUE - PERIOD_NS / 2;

    private static final class Lines extends LegacyAbstractLogger
    {
        private static final long serialVersionUID = 1;
        private final transient List<String> lines = new ArrayList<>();

        @Override
        protected void handleNormalizedLoggingCall(
            final Level level, final Marker marker, final String pattern, final Object[] arguments,
            final Throwable failure)
        {
            lines.add(level + " " + MessageFormatter.basicArrayFormat(pattern, arguments));
        }

        @Override
        protected String getFullyQualifiedCallerName()
        {
            return null;
        }

        @Override
        public boolean isTraceEnabled()
        {
            return false;
        }

        @Override
        public boolean isDebugEnabled()
        {
            return false;
        }

        @Override
        public boolean isInfoEnabled()
        {
            return false;
        }

        @Override
        public boolean isWarnEnabled()
        {
            return true;
        }

        @Override
        public boolean isErrorEnabled()
        {
            return true;
        }
    }

    @Test
    void shouldWarnAtOnceAndThenOnceInTenSecondsOfWhatWasNotReported()
    {
        final Lines logger = new Lines();
        final PacedWarning warning = new PacedWarning(logger, "refused {}", BEGIN_NS);
        warning.poll(0, BEGIN_NS);
        assertThat(logger.lines).isEmpty();
        warning.poll(3, BEGIN_NS);
        assertThat(logger.lines).containsExactly("WARN refused 3");
        warning.poll(4, BEGIN_NS + 1);
        warning.poll(7, BEGIN_NS + PERIOD_NS - 1);
        assertThat(logger.lines).hasSize(1);
        warning.poll(8, BEGIN_NS + PERIOD_NS);
        assertThat(logger.lines).containsExactly("WARN refused 3", "WARN refused 5");
        warning.poll(8, BEGIN_NS + 3 * PERIOD_NS);
        assertThat(logger.lines).hasSize(2);
    }
}
