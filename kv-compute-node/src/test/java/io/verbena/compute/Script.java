package io.verbena.compute;

import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Answers the calls of a service as a test says, and counts them. */
final class Script
{
    private final Map<String, Function<Object[], Object>> answers = new HashMap<>();
    private final List<String> asked = new ArrayList<>();

    <T> T service(final Class<T> type)
    {
        return type.cast(Proxy.newProxyInstance(
            type.getClassLoader(), new Class<?>[]{type}, (proxy, method, arguments) ->
            {
                asked.add(method.getName());
                final Function<Object[], Object> answer = answers.get(method.getName());
                if (null == answer && method.isDefault())
                {
                    return InvocationHandler.invokeDefault(proxy, method, arguments);
                }
                if (null == answer)
                {
                    throw new ControlException(ControlStatus.INVALID_REQUEST, "no answer to " + method.getName());
                }
                return answer.apply(arguments);
            }));
    }

    void answer(final String method, final Function<Object[], Object> answer)
    {
        answers.put(method, answer);
    }

    Function<Object[], Object> answering(final String method)
    {
        return answers.get(method);
    }

    void refuse(final String method, final ControlStatus status)
    {
        answer(method, (arguments) ->
        {
            throw new ControlException(status, "the test says so");
        });
    }

    long count(final String method)
    {
        return asked.stream().filter(method::equals).count();
    }
}
