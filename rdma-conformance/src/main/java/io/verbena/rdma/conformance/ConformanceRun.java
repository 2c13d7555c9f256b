package io.verbena.rdma.conformance;

import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;

/** Runs the rules on a path. Thread-safe; each run works on the thread that asks for it. */
public final class ConformanceRun
{
    private ConformanceRun()
    {
    }

    /**
     * Runs rules one after the other. The last results are those of the allow-list itself: an entry that names no rule
     * fails.
     *
     * @param path     what to run on.
     * @param rules    what the name of a rule has to contain; others are left out.
     * @param clock    measures durations, in nanoseconds.
     * @param listener called with each result as it comes.
     * @return the results, in the order of the rules.
     */
    public static List<RuleResult> run(
        final ConformancePath path, final Pattern rules, final LongSupplier clock, final Consumer<RuleResult> listener)
    {
        final String run = RunningPaths.begin(path);
        final LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
            .selectors(DiscoverySelectors.selectClass(VerbsConformance.class))
            .configurationParameter(RunningPaths.RUN_PARAMETER, run)
            .configurationParameter(RunningPaths.RULES_PARAMETER, rules.pattern())
            .build();
        final LauncherConfig config = LauncherConfig.builder()
            .enableTestExecutionListenerAutoRegistration(false)
            .enableLauncherSessionListenerAutoRegistration(false)
            .enablePostDiscoveryFilterAutoRegistration(false)
            .build();
        final Results results = new Results(clock, listener);
        try
        {
            LauncherFactory.create(config).execute(request, results);
        }
        finally
        {
            RunningPaths.end(run);
        }
        results.checkAllowList(path.allowList());
        return List.copyOf(results.results);
    }

    private static final class Results implements TestExecutionListener
    {
        private final List<RuleResult> results = new ArrayList<>();
        private final Set<String> known = new TreeSet<>();
        private final LongSupplier clock;
        private final Consumer<RuleResult> listener;
        private TestPlan plan;
        private long startNs;

        private Results(final LongSupplier clock, final Consumer<RuleResult> listener)
        {
            this.clock = clock;
            this.listener = listener;
        }

        @Override
        public void testPlanExecutionStarted(final TestPlan testPlan)
        {
            plan = testPlan;
        }

        @Override
        public void executionStarted(final TestIdentifier test)
        {
            startNs = clock.getAsLong();
        }

        @Override
        public void executionSkipped(final TestIdentifier test, final String reason)
        {
            known.add(rule(test));
        }

        @Override
        public void executionFinished(final TestIdentifier test, final TestExecutionResult result)
        {
            final Throwable failure = result.getThrowable().orElse(null);
            if (test.isContainer() && failure == null)
            {
                return;
            }
            known.add(rule(test));
            add(new RuleResult(
                plan.getParent(test).map(TestIdentifier::getDisplayName).orElse(""), rule(test),
                switch (result.getStatus())
                {
                    case SUCCESSFUL -> RuleResult.Verdict.PASS;
                    case ABORTED -> RuleResult.Verdict.UNSUPPORTED;
                    case FAILED -> RuleResult.Verdict.FAIL;
                },
                failure == null ? "" : oneLine(String.valueOf(failure.getMessage())),
                failure,
                clock.getAsLong() - startNs));
        }

        private void checkAllowList(final AllowList list)
        {
            for (final String rule : list.entries().keySet())
            {
                if (!known.contains(rule))
                {
                    final String detail = "the allow-list '" + list.name() + "' names it, but there is no such rule";
                    add(new RuleResult(
                        "allow-list", rule, RuleResult.Verdict.FAIL, detail, new AssertionError(detail), 0));
                }
            }
        }

        private void add(final RuleResult result)
        {
            results.add(result);
            listener.accept(result);
        }

        private String rule(final TestIdentifier test)
        {
            final String contract = plan.getParent(test)
                .map(parent -> parent.getLegacyReportingName().replaceAll(".*[.$]", "")).orElse("");
            return contract + "." + test.getLegacyReportingName().replaceAll("\\(.*", "");
        }

        private static String oneLine(final String message)
        {
            return message.strip().replaceAll("\\s*\\R\\s*", " ");
        }
    }
}
