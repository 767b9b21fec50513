<?php
// symfony-page.php - a page of blocks, each a sub-request through the kernel of Debian's
// Symfony (HttpKernel and Routing; no Twig, no Doctrine): what the workload subrequest is
// compared with. Parameter: blocks. Served by phpapp/workloads/calibrate.
declare(strict_types=1);

use Symfony\Component\EventDispatcher\EventDispatcher;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\RequestStack;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpKernel\Controller\ArgumentResolver;
use Symfony\Component\HttpKernel\Controller\ControllerResolver;
use Symfony\Component\HttpKernel\EventListener\ResponseListener;
use Symfony\Component\HttpKernel\EventListener\RouterListener;
use Symfony\Component\HttpKernel\HttpKernel;
use Symfony\Component\HttpKernel\HttpKernelInterface;
use Symfony\Component\Routing\Matcher\UrlMatcher;
use Symfony\Component\Routing\RequestContext;
use Symfony\Component\Routing\Route;
use Symfony\Component\Routing\RouteCollection;

if (!@include 'Symfony/Component/HttpKernel/autoload.php') {
    http_response_code(500);
    exit("This page needs php-symfony-http-kernel and php-symfony-routing.\n");
}
require_once 'Symfony/Component/Routing/autoload.php';

$blocks = $_GET['blocks'] ?? '0';
if (!is_string($blocks) || !preg_match('/^\d{1,4}$/D', $blocks)) {
    http_response_code(400);
    exit("The parameter blocks should be a number from 0 to 9999.\n");
}

$routes = new RouteCollection();
$kernel = null;
$routes->add('page', new Route('/page', ['_controller' =>
    static function (Request $request) use (&$kernel, $blocks): Response {
        $html = "<!DOCTYPE html>\n<title>A page of blocks</title>\n";
        for ($number = 1; $number <= (int)$blocks; $number++) {
            $block = Request::create("/block/1/$number");
            $html .= $kernel->handle($block, HttpKernelInterface::SUB_REQUEST)->getContent();
        }
        return new Response($html);
    }]));
$routes->add('block', new Route('/block/{level}/{number}', ['_controller' =>
    static function (int $level, int $number): Response {
        return new Response("<section>\n<h2>Block $number of level $level</h2>\n</section>\n");
    }]));
$stack = new RequestStack();
$events = new EventDispatcher();
$events->addSubscriber(new RouterListener(new UrlMatcher($routes, new RequestContext()), $stack));
$events->addSubscriber(new ResponseListener('UTF-8'));
$kernel = new HttpKernel($events, new ControllerResolver(), $stack, new ArgumentResolver());
$request = Request::create('/page');
$response = $kernel->handle($request);
// Not send(): its status line makes PHP answer in HTTP/1.0, which ab waits on for ever.
foreach ($response->headers->all() as $name => $values) {
    header("$name: " . implode(', ', $values));
}
echo $response->getContent();
$kernel->terminate($request, $response);
