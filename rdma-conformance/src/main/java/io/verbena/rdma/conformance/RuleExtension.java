package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.UnsupportedVerbException;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.opentest4j.TestAbortedException;

import java.lang.reflect.Method;
import java.util.regex.Pattern;

/** Gives each contract its path, and holds what a rule does against the allow-list of the path. */
final class RuleExtension implements ExecutionCondition, InvocationInterceptor
{
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(final ExtensionContext context)
    {
        final String rules = context.getConfigurationParameter(RunningPaths.RULES_PARAMETER).orElse("");
        return context.getTestMethod().isEmpty() || Pattern.compile(rules).matcher(rule(context)).find() ?
            ConditionEvaluationResult.enabled("asked for") : ConditionEvaluationResult.disabled("not asked for");
    }

    @Override
    public void interceptBeforeEachMethod(
        final Invocation<Void> invocation,
        final ReflectiveInvocationContext<Method> invocationContext,
        final ExtensionContext context) throws Throwable
    {
        ((VerbsHarness)context.getRequiredTestInstance()).path = path(context);
        final AllowList.Entry entry = entry(context);
        if (entry == null)
        {
            invocation.proceed();
            return;
        }
        try
        {
            invocation.proceed();
        }
        catch (final Exception | AssertionError ex)
        {
            throw judged(context, entry, ex);
        }
    }

    @Override
    public void interceptTestMethod(
        final Invocation<Void> invocation,
        final ReflectiveInvocationContext<Method> invocationContext,
        final ExtensionContext context) throws Throwable
    {
        final AllowList.Entry entry = entry(context);
        if (entry == null)
        {
            invocation.proceed();
            return;
        }
        if (entry.leave() == AllowList.Leave.NOT_RUN)
        {
            throw new TestAbortedException("not run: " + entry.reason());
        }
        try
        {
            invocation.proceed();
        }
        catch (final Exception | AssertionError ex)
        {
            throw judged(context, entry, ex);
        }
        throw new AssertionError(
            rule(context) + " passes, although the allow-list '" + path(context).allowList().name() +
            "' says: " + entry.reason() + "; take it off the list");
    }

    @Override
    public void interceptAfterEachMethod(
        final Invocation<Void> invocation,
        final ReflectiveInvocationContext<Method> invocationContext,
        final ExtensionContext context) throws Throwable
    {
        try
        {
            invocation.proceed();
        }
        catch (final Exception | AssertionError ex)
        {
            // What an allowed failure left half done may not close either.
            if (entry(context) == null)
            {
                throw ex;
            }
        }
    }

    private static Throwable judged(
        final ExtensionContext context, final AllowList.Entry entry, final Throwable failure)
    {
        final boolean deviates = entry.leave() == AllowList.Leave.DEVIATES;
        if (deviates || isUnsupported(failure))
        {
            return new TestAbortedException((deviates ? "deviates: " : "") + entry.reason(), failure);
        }
        return new AssertionError(
            rule(context) + " is on the allow-list as unsupported (" + entry.reason() + ") but fails otherwise: " +
            failure.getMessage(), failure);
    }

    private static boolean isUnsupported(final Throwable failure)
    {
        for (Throwable cause = failure; cause != null; cause = cause.getCause())
        {
            if (cause instanceof UnsupportedVerbException)
            {
                return true;
            }
        }
        return false;
    }

    private static AllowList.Entry entry(final ExtensionContext context)
    {
        return path(context).allowList().entries().get(rule(context));
    }

    private static String rule(final ExtensionContext context)
    {
        return context.getRequiredTestClass().getSimpleName() + "." + context.getRequiredTestMethod().getName();
    }

    private static ConformancePath path(final ExtensionContext context)
    {
        return RunningPaths.path(context.getConfigurationParameter(RunningPaths.RUN_PARAMETER).orElseThrow());
    }
}
