package io.verbena.rdma.conformance;

import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.DynamicTest;
import org.opentest4j.TestAbortedException;

import java.util.List;
import java.util.regex.Pattern;

/** A run of the suite as tests of this module, one a rule; {@code -Dverbena.conformance.rules=PATTERN} chooses. */
final class ConformanceTests
{
    private static final String RULES = System.getProperty("verbena.conformance.rules", "");

    private ConformanceTests()
    {
    }

    static List<DynamicTest> on(final ConformancePath path)
    {
        return on(path, RULES);
    }

    static List<DynamicTest> on(final ConformancePath path, final String rules)
    {
        return ConformanceRun.run(path, Pattern.compile(rules), SystemNanoClock.INSTANCE::nanoTime, result -> { })
            .stream().map(result -> DynamicTest.dynamicTest(result.rule(), () -> report(path, result))).toList();
    }

    private static void report(final ConformancePath path, final RuleResult result)
    {
        final String message = path + ": " + result.rule() + ": " + result.detail();
        switch (result.verdict())
        {
            case FAIL -> throw new AssertionError(message, result.failure());
            case UNSUPPORTED -> throw new TestAbortedException(message);
            case PASS ->
            {
            }
        }
    }
}
